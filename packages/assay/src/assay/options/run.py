"""The options of `assay run`, and those of them that `assay suite show` and pytest have too."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option, option_group
from assay.options.groups import (
    AlertOptions,
    CaseOptions,
    CompareRunOptions,
    FlowOptions,
    HistoryOptions,
    MachineOptions,
    MemoryOptions,
    OnlyOptions,
    PolicyOptions,
    RepeatOptions,
    ReportOptions,
    TimeoutOptions,
    WorkerOptions,
)

SUITE_TIMEOUT_S = 60.0
"""For one case of a suite, unless --timeout says otherwise."""


@option_group
class SuiteOptions(CaseOptions):
    """Which cases of a suite are made."""

    dtypes: tuple[str, ...] = option(
        (),
        "Run only cases with an input or output of this type. Repeatable.",
        flag="--dtype",
        metavar="TYPE",
    )
    seed: int = option(0, "Random seed of weights, inputs and shapes.", least=0)


@dataclass(frozen=True, kw_only=True)
class RunOptions(
    FlowOptions,
    SuiteOptions,
    WorkerOptions,
    MachineOptions,
    PolicyOptions,
    ReportOptions,
    TimeoutOptions,
    MemoryOptions,
    RepeatOptions,
    CompareRunOptions,
    OnlyOptions,
    AlertOptions,
    HistoryOptions,
):
    """What a user may say of suites. `command` is what a report says was run."""

    suites: tuple[str, ...] = option(
        (), "Suites: `assay suite list` names them.", metavar="SUITE", argument=True, needed=True
    )
    only_kind: str = option("verify", "Kind of job: verify, or measure (rates, roofline, caches, layouts).")
    threads: tuple[int, ...] = option(
        (), "Also measure with this many threads, beside one. Repeatable.", least=1, metavar="N"
    )
    measure_seconds: float = option(0.1, "Sampling time per case and flow, in seconds.", least=0.01)
    expectations: str = option(
        "expectations",
        "Folder with expected outcomes, one file per flow: FLOW.toml; or shipped: those that come with Assay.",
        metavar="FOLDER",
    )
    shards: int = option(4, "With --on slurm: how many tasks share the cases.", least=1, once=True)
    durations: str = option(
        "",
        "With --shard: shares that take equally long, by this file of `assay merge --durations`, the same for all shards; or last: by the "
        "last whole run of the same command in the history.",
        metavar="FILE",
        once=True,
    )
    save: Path | None = option(None, "Save the run to a file for `assay merge`.", metavar="FILE", once=True)
    unrecorded: bool = option(
        False,
        "With --save: the results are in that file alone, once all are there, and nothing is recorded in the history.",
        once=True,
    )
    skip_unavailable: bool = option(False, "Skip flows that are not installed, instead of failing.")
    accept_counts: bool = option(False, "Accept that a suite has fewer cases than before.")
    adapt_opset: int = option(
        0, "Run cases of newer opsets once more, converted to opset N, as FLOW+opset-N.", least=0, metavar="N"
    )
    no_cache: bool = option(False, "Lower every case again, and load no cached artifact (see `assay cache list`).")
    command: str = "assay run"
