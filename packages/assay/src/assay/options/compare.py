"""The options of `assay compare`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.options.declaration import option
from assay.options.groups import AlertOptions, HistoryOptions, ReportOptions

if TYPE_CHECKING:
    from assay.core.flow import Option as Value


@dataclass(frozen=True, kw_only=True)
class CompareOptions(ReportOptions, AlertOptions, HistoryOptions):
    """What a user may say. One model and two flows (old, new), or two models (old, new) and one flow or two."""

    models: tuple[Path, ...] = option(
        (), "One model on two flows, or an old and a new model.", metavar="MODEL", argument=True, needed=True
    )
    flows: tuple[str, ...] = option(
        (), "Flow of the old engine, then of the new one; a single one is used for both.", flag="--flow", metavar="FLOW"
    )
    golden: Path | None = option(None, "Golden folder whose first sample is the input.")
    options: Mapping[str, Value] = option(
        {},
        "Set an option of the new flow's backend. Repeatable.",
        flag="--option",
        metavar="NAME=VALUE",
        kind="backend option",
    )
    min_slowdown_percent: float | None = option(
        None, "Ignore a slowdown below this, in percent [1].", flag="--min-slowdown", metavar="PERCENT", least=0.0
    )
    launches: int | None = option(None, "Largest number of fresh pairs of engines [20].", least=4)
    seed: int = option(0, "Random seed of the inputs (ignored with --golden).")
    batches: tuple[int, ...] = option(
        (), "Size of a symbolic first dimension. Repeatable, for a sweep.", flag="--batch", metavar="SIZE", least=1
    )
    threads: int = option(1, "Number of threads of each engine.", least=1)
    policy: str = option("", "TOML file with limits.", metavar="FILE")
    timeout_s: float = option(
        600.0,
        "Time limit of the whole comparison in seconds, without the import of the backend.",
        flag="--timeout",
        least=0.1,
    )
    command: str = "assay compare"
