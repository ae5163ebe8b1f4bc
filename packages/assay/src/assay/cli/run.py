"""`assay run`: whole suites over flows; `assay merge`: shards of a run back into one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as opt
from assay.cli.common import History, Reports, command_line, finish, progress_bar
from assay.commands.defaults import DEFAULT_HISTORY, SUITE_TIMEOUT_S

Suites = Annotated[list[str], typer.Argument(metavar="SUITE...", help="Suites: `assay suite list` names them.")]
Dtypes = Annotated[
    list[str] | None,
    typer.Option("--dtype", metavar="TYPE", help="Run only cases with an input or output of this type. Repeatable."),
]
Seed = Annotated[int, typer.Option(min=0, help="Random seed of weights, inputs and shapes.")]
OnlyKind = Annotated[str, typer.Option(help="Kind of job: verify, or measure (rates, roofline, caches, layouts).")]
Threads = Annotated[
    list[int] | None,
    typer.Option(min=1, metavar="N", help="Also measure with this many threads, beside one. Repeatable."),
]
MeasureSeconds = Annotated[float, typer.Option(min=0.01, help="Sampling time per case and flow, in seconds.")]
Expectations = Annotated[
    Path, typer.Option(metavar="FOLDER", help="Folder with expected outcomes, one file per flow: FLOW.toml.")
]
Save = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the run to a file for `assay merge`.")]
SkipUnavailable = Annotated[
    bool, typer.Option("--skip-unavailable", help="Skip flows that are not installed, instead of failing.")
]
AcceptCounts = Annotated[bool, typer.Option("--accept-counts", help="Accept that a suite has fewer cases than before.")]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Lower every case again, and load no cached artifact (see `assay cache list`)."),
]
AdaptOpset = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", help="Run cases of newer opsets once more, converted to opset N, as FLOW+opset-N."
    ),
]


def run(
    suites: Suites,
    flow: opt.Flows = None,
    filter: opt.Filters = None,
    dtype: Dtypes = None,
    shard: opt.Shard = "1/1",
    seed: Seed = 0,
    workers: opt.Workers = 0,
    option: opt.BackendOptions = None,
    only_kind: OnlyKind = "verify",
    threads: Threads = None,
    measure_seconds: MeasureSeconds = 0.1,
    policy: opt.Policy = None,
    expectations: Expectations = Path("expectations"),
    report: Reports = None,
    save: Save = None,
    timeout: opt.Timeout = None,
    memory: opt.Memory = "",
    compare_run: opt.CompareRun = "",
    only: opt.Only = "",
    skip_unavailable: SkipUnavailable = False,
    accept_counts: AcceptCounts = False,
    adapt_opset: AdaptOpset = 0,
    no_cache: NoCache = False,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Run suites over flows: every case a black box, isolated, compared, recorded, judged."""
    from assay.launch.prefork import Preforked

    here = [name for name in flow or () if only_kind == "verify" and "@" not in name]
    with Preforked(here) as ahead, progress_bar() as progress:
        # Not before: what this imports takes as long as what the workers import.
        from assay.commands.run import RunOptions, run_suites

        options = RunOptions(
            suites=tuple(suites), flows=tuple(flow or ()), filters=tuple(filter or ()), dtypes=tuple(dtype or ()),
            shard=shard, seed=seed, workers=workers, options=tuple(option or ()), policy=policy, expectations=expectations,
            reports=tuple(report or ()), save=save, timeout_s=timeout or SUITE_TIMEOUT_S, memory=memory, compare_run=compare_run,
            only=only, skip_unavailable=skip_unavailable, accept_counts=accept_counts, adapt_opset=adapt_opset, only_kind=only_kind,
            no_cache=no_cache,
            threads=tuple(threads or ()), measure_seconds=measure_seconds, history=history,
            command=command_line(sys.argv[1:]),
        )  # fmt: skip
        checked = run_suites(options, progress, ahead)
    finish(checked, [f"report: {text.partition('=')[2]}" for text in options.reports])


def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What `assay run --shard I/N --save` wrote.")],
    report: Reports = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Put the shards of one run together: recorded, judged and reported as one."""
    from assay.commands.composition import open_services
    from assay.commands.reporting import destinations
    from assay.pipeline.merge import merge as join

    where = destinations(report or [])
    with open_services(history) as house:
        checked = join(shards, house)
    for destination in where:
        destination.write(checked)
    finish(checked, [f"report: {destination.path}" for destination in where])
