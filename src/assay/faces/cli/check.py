"""`assay check`: models, flows and goldens in, a verdict out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from assay.faces.cli.common import History, Reports, finish, progress_bar


def check(
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="MODEL...", help="ONNX files. None: all that assay.toml lists.")
    ] = None,
    flow: Annotated[
        list[str] | None, typer.Option(help="A flow, for example onnxruntime or openvino-f32. Repeatable.")
    ] = None,
    golden: Annotated[
        Path | None, typer.Option(help="Golden folder of the model. Without it: the float64 reference.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The file that lists models, flows and limits [assay.toml].")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Limits and expectations, a TOML file.")] = None,
    report: Reports = None,
    task: Annotated[str, typer.Option(help="verify, local, measure or all (local apart).")] = "all",
    local: Annotated[
        bool,
        typer.Option("--local", help="Judge every node on the engine's own inputs, too: names the first wrong one."),
    ] = False,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Option of the backend. Repeatable.")
    ] = None,
    transform: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[:ARGUMENT]", help="Transform before lowering, after the flow's own. Repeatable."),
    ] = None,
    require: Annotated[
        list[str] | None, typer.Option(metavar="LIMIT", help='For example "precision.float16 >= 0.8". Repeatable.')
    ] = None,
    dim: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=LEAST:USUAL:LARGEST", help="Sizes of a symbolic dimension. Repeatable."),
    ] = None,
    calibration: Annotated[
        int, typer.Option(min=0, help="Golden samples kept for calibration and not judged. 0: a quarter, 128 at most.")
    ] = 0,
    answers: Annotated[
        str, typer.Option(metavar="KIND", help="What the outputs mean: classification, detection or segmentation.")
    ] = "",
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance for all outputs.")] = None,
    atol: Annotated[float | None, typer.Option(help="Absolute tolerance for all outputs.")] = None,
    tolerance: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="derived, default, torch, onnx or fixed:RTOL,ATOL, where none is given [derived]."
        ),
    ] = "",
    inputs: Annotated[
        str,
        typer.Option(metavar="FILL", help="normal, or exact: small whole numbers, where there is no golden [normal]."),
    ] = "",
    seed: Annotated[int, typer.Option(help="Of the inputs, where there is no golden.")] = 0,
    samples: Annotated[int, typer.Option(min=1, help="How many, where there is no golden.")] = 4,
    batch: Annotated[int, typer.Option(min=1, help="Their batch size, where there is no golden.")] = 1,
    measure_seconds: Annotated[
        float | None, typer.Option(min=0.01, help="Of sampling, per flow and batch size [0.5].")
    ] = None,
    measure_batch: Annotated[list[int] | None, typer.Option(min=1, help="Batch size to measure. Repeatable.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads of the engine while measuring [1].")] = None,
    timeout: Annotated[
        float | None, typer.Option(min=0.1, help="Seconds per job, importing the backend apart [300].")
    ] = None,
    memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Resident memory per job, for example 4GB [no limit].")
    ] = "",
    jobs: Annotated[int, typer.Option(min=0, help="Workers that verify at once. 0: one per core.")] = 0,
    against: Annotated[str, typer.Option(metavar="RUN", help="The run that degradation limits compare with.")] = "",
    baseline: Annotated[
        bool, typer.Option("--baseline", help="Is it as fast as the blessed engine? (assay baseline set)")
    ] = False,
    only: Annotated[
        str, typer.Option(metavar="JOB", help="One job of the run, CASE|FLOW|TASK: what repro lines use.")
    ] = "",
    history: History = "",
) -> None:
    """Build, verify and measure models on every flow; judge; exit 0 only if all is well."""
    from assay.faces.api import CheckOptions, run_check

    options = CheckOptions(
        models=tuple(models or ()),
        flows=tuple(flow or ()),
        golden=golden,
        config=config,
        policy=policy,
        reports=tuple(report or ()),
        task=task,
        local=local,
        options=tuple(option or ()),
        transforms=tuple(transform or ()),
        require=tuple(require or ()),
        dims=tuple(dim or ()),
        calibration=calibration,
        answers=answers,
        rtol=rtol,
        atol=atol,
        tolerance=tolerance,
        fill=inputs,
        seed=seed,
        samples=samples,
        batch=batch,
        measure_seconds=measure_seconds,
        measure_batches=tuple(measure_batch or ()),
        threads=threads,
        timeout_s=timeout,
        memory=memory,
        jobs=jobs,
        against=against,
        baseline=baseline,
        history=history,
        only=only,
        command=_command(sys.argv[1:]),
    )
    with progress_bar() as progress:
        checked = run_check(options, progress)
    finish(checked, [f"report: {text.partition('=')[2]}" for text in options.reports])


def _command(arguments: Sequence[str]) -> str:
    """The line that repeats the run: without its reports, which a repeat must not overwrite, and without --only."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in ("--report", "--only"):
            next(words, None)
        elif not word.startswith(("--report=", "--only=")):
            kept.append(word)
    return shlex.join(["assay", *kept])
