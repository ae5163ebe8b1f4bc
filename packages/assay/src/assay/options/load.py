"""The options of `assay load`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option
from assay.options.groups import (
    CompareRunOptions,
    ConfigOptions,
    ConfiguredHistoryOptions,
    PolicyOptions,
    ReportOptions,
)


@dataclass(frozen=True, kw_only=True)
class LoadOptions(ReportOptions, ConfigOptions, PolicyOptions, CompareRunOptions, ConfiguredHistoryOptions):
    """What a user may say. An address, or the name of a [service] in assay.toml, or a result file of another tool."""

    address: str = option(
        "", "Where the service is, for example http://127.0.0.1:8000/v1.", metavar="URL", argument=True
    )
    service: str = option("", "Service of assay.toml, [service.NAME], that is started and ended.", metavar="NAME")
    against: str = option("", "Older service of assay.toml: which of the two is slower?", metavar="NAME")
    results: Path | None = option(None, "Judge a result file of another load generator instead.")
    model: str = option("", "Which of the service's models [the first it names].")
    prompts: Path | None = option(None, "File of prompts: a text, or token numbers in .jsonl, on each line.")
    tokens: tuple[int, ...] = option(
        (), "Tokens to generate [16]. Repeatable: in turn.", flag="--tokens", metavar="NUMBER", least=1
    )
    rates: tuple[int, ...] = option(
        (), "Requests a second [10]. Repeatable, for a curve.", flag="--rate", metavar="NUMBER", least=1
    )
    seconds: float = option(10.0, "How long requests are sent at each rate.", least=0.1)
    arrivals: str = option("poisson", "When requests come.", choices=("poisson", "constant", "burst", "trace"))
    trace: Path | None = option(None, "The second of each request on a line, for --arrivals trace.")
    whole: bool = option(False, "Ask for whole answers, not for streams.")
    objectives: tuple[str, ...] = option(
        (),
        "What a good answer keeps, in ms: ttft=200, itl=50 or e2e=1000. Repeatable.",
        flag="--objective",
        metavar="NAME=MS",
    )
    require: tuple[str, ...] = option(
        (), 'Fail unless a limit holds, for example "ttft_p50_ms <= 200". Repeatable.', metavar="LIMIT"
    )
    vary: tuple[str, ...] = option(
        (),
        "Start --service with each of these values in place of {NAME} in its command. Repeatable: all combinations.",
        metavar="NAME=VALUE,VALUE",
    )
    restarts: int = option(
        1, "Start --service so many times, with the same requests: do all starts give the same answers?", least=1
    )
    pairs: int = option(20, "Largest number of restarts of both services (with --against).", least=4)
    min_slowdown_percent: float = option(
        5.0, "Ignore a slowdown below this, in percent.", flag="--min-slowdown", metavar="PERCENT", least=0.0
    )
    seed: int = option(0, "Random seed of the arrivals.", least=0)
    timeout_s: float = option(30.0, "How long an answer may take, in seconds.", flag="--timeout", least=0.1)
    output: Path | None = option(None, "Write all figures as JSON.", once=True)
    command: str = "assay load"
