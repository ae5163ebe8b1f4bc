"""`assay run`: whole suites over flows; `assay merge`: shards of a run back into one."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.faces.cli.common import DEFAULT_HISTORY, History, Reports, command_line, finish, progress_bar


def run(
    suites: Annotated[list[str], typer.Argument(metavar="SUITE...", help="Suites: `assay suite list` names them.")],
    flow: Annotated[list[str] | None, typer.Option(help="A flow, for example onnxruntime. Repeatable.")] = None,
    filter: Annotated[
        list[str] | None, typer.Option("--filter", metavar="GLOB", help="Cases by name: 'conv2d*'. Repeatable.")
    ] = None,
    dtype: Annotated[
        list[str] | None, typer.Option(help="Cases with an input or output of that type. Repeatable.")
    ] = None,
    shard: Annotated[str, typer.Option(metavar="I/N", help="One of N shares of the cases, by digest.")] = "1/1",
    seed: Annotated[int, typer.Option(min=0, help="Of weights, inputs and shapes.")] = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Workers at once. 0: one per core.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Option of the backend. Repeatable.")
    ] = None,
    task: Annotated[str, typer.Option(help="verify, or measure: rates, roofline, caches, layouts.")] = "verify",
    threads: Annotated[
        list[int] | None, typer.Option(min=1, help="Measure on that many, besides one. Repeatable.")
    ] = None,
    measure_seconds: Annotated[float, typer.Option(min=0.01, help="Of sampling, per case and flow.")] = 0.1,
    policy: Annotated[Path | None, typer.Option(help="Limits and expectations, a TOML file.")] = None,
    expectations: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Known outcomes, one file per flow: FLOW.toml.")
    ] = Path("expectations"),
    report: Reports = None,
    save: Annotated[Path | None, typer.Option(metavar="FILE", help="Keep the run in a file for `assay merge`.")] = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds per case, importing the backend apart.")] = 60.0,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Resident memory per case [no limit].")] = "",
    against: Annotated[str, typer.Option(metavar="RUN", help="The run that degradation limits compare with.")] = "",
    only: Annotated[str, typer.Option(metavar="JOB", help="One job, CASE|FLOW|TASK: what repro lines use.")] = "",
    skip_unavailable: Annotated[
        bool, typer.Option("--skip-unavailable", help="A flow that is not installed is skipped instead of failed.")
    ] = False,
    accept_counts: Annotated[
        bool, typer.Option("--accept-counts", help="Accept that a suite has fewer cases than before.")
    ] = False,
    adapt_opset: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run cases of newer opsets once more, converted to N: FLOW+opset-N.")
    ] = 0,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Run suites over flows: every case a black box, isolated, compared, recorded, judged."""
    from assay.faces.suites import RunOptions, run_suites

    options = RunOptions(
        suites=tuple(suites),
        flows=tuple(flow or ()),
        filters=tuple(filter or ()),
        dtypes=tuple(dtype or ()),
        shard=shard,
        seed=seed,
        jobs=jobs,
        options=tuple(option or ()),
        policy=policy,
        expectations=expectations,
        reports=tuple(report or ()),
        save=save,
        timeout_s=timeout,
        memory=memory,
        against=against,
        only=only,
        skip_unavailable=skip_unavailable,
        accept_counts=accept_counts,
        adapt_opset=adapt_opset,
        task=task,
        threads=tuple(threads or ()),
        measure_seconds=measure_seconds,
        history=history,
        command=command_line(sys.argv[1:]),
    )
    with progress_bar() as progress:
        checked = run_suites(options, progress)
    finish(checked, [f"report: {text.partition('=')[2]}" for text in options.reports])


def merge(
    shards: Annotated[list[Path], typer.Argument(metavar="FILE...", help="What `assay run --shard I/N --save` wrote.")],
    report: Reports = None,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Put the shards of one run together: recorded, judged and reported as one."""
    from assay.faces.composition import open_house
    from assay.faces.reporting import destinations
    from assay.pipeline.merge import merge as join

    where = destinations(report or [])
    with open_house(history) as house:
        checked = join(shards, house)
    for destination in where:
        destination.write(checked)
    finish(checked, [f"report: {destination.path}" for destination in where])
