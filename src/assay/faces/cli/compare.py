"""`assay compare`: two engines side by side, and whether the new one is slower."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.faces.cli.common import DEFAULT_HISTORY, History, Reports, command_line, finish, progress_bar


def compare(
    models: Annotated[
        list[Path], typer.Argument(metavar="[OLD] NEW", help="One model on two flows, or an old and a new model.")
    ],
    flow: Annotated[
        list[str] | None, typer.Option(help="The old flow and the new one; one alone serves both models.")
    ] = None,
    golden: Annotated[Path | None, typer.Option(help="Golden folder whose first sample is the input.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Option of the new flow's backend. Repeatable.")
    ] = None,
    floor: Annotated[
        float | None, typer.Option(min=0.0, metavar="PERCENT", help="A slow-down below it is nobody's concern [1].")
    ] = None,
    launches: Annotated[int | None, typer.Option(min=4, help="Fresh pairs of engines at most [20].")] = None,
    seed: Annotated[int, typer.Option(help="Of the inputs, where there is no golden.")] = 0,
    batch: Annotated[
        list[int] | None, typer.Option(min=1, help="Batch size of a symbolic first dimension. Repeatable: a sweep.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of both engines.")] = 1,
    policy: Annotated[Path | None, typer.Option(help="Limits, a TOML file.")] = None,
    report: Reports = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds in all, importing the backend apart.")] = 600.0,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Is the new engine slower? Fresh pairs, interleaved, until it can be told; exit 0 same or faster, 1 slower, 3 undecided."""
    from assay.faces.compare import CompareOptions, run_compare

    options = CompareOptions(
        models=tuple(models),
        flows=tuple(flow or ()),
        golden=golden,
        options=tuple(option or ()),
        floor_percent=floor,
        launches=launches,
        seed=seed,
        batches=tuple(batch or ()),
        threads=threads,
        policy=policy,
        reports=tuple(report or ()),
        timeout_s=timeout,
        history=history,
        command=command_line(sys.argv[1:]),
    )
    with progress_bar() as progress:
        checked = run_compare(options, progress)
    finish(checked, [f"report: {text.partition('=')[2]}" for text in options.reports])
