"""`assay compare`: two engines side by side, and whether the new one is slower."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli.common import History, Reports, command_line, finish, progress_bar
from assay.commands.defaults import DEFAULT_HISTORY


def compare(
    models: Annotated[
        list[Path], typer.Argument(metavar="[OLD] NEW", help="One model on two flows, or an old and a new model.")
    ],
    flow: Annotated[
        list[str] | None,
        typer.Option(help="Flow of the old engine, then of the new one; a single one is used for both."),
    ] = None,
    golden: Annotated[Path | None, typer.Option(help="Golden folder whose first sample is the input.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Set an option of the new flow's backend. Repeatable."),
    ] = None,
    min_slowdown: Annotated[
        float | None, typer.Option(min=0.0, metavar="PERCENT", help="Ignore a slowdown below this, in percent [1].")
    ] = None,
    launches: Annotated[int | None, typer.Option(min=4, help="Largest number of fresh pairs of engines [20].")] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the inputs (ignored with --golden).")] = 0,
    batch: Annotated[
        list[int] | None, typer.Option(min=1, help="Size of a symbolic first dimension. Repeatable, for a sweep.")
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Number of threads of each engine.")] = 1,
    policy: Annotated[Path | None, typer.Option(help="TOML file with limits.")] = None,
    report: Reports = None,
    timeout: Annotated[
        float,
        typer.Option(min=0.1, help="Time limit of the whole comparison in seconds, without the import of the backend."),
    ] = 600.0,
    history: History = DEFAULT_HISTORY,
) -> None:
    """Is the new engine slower? Fresh pairs, interleaved, until the result is significant; exit 0 same or faster, 1 slower, 3 undecided."""
    from assay.commands.compare import CompareOptions, run_compare

    options = CompareOptions(
        models=tuple(models),
        flows=tuple(flow or ()),
        golden=golden,
        options=tuple(option or ()),
        min_slowdown_percent=min_slowdown,
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
