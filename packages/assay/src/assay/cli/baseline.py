"""`assay baseline`: the engines that the next ones are compared with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as opt
from assay.cli.common import History
from assay.commands.defaults import DEFAULT_HISTORY

app = typer.Typer(
    help="Approved engines that later engines are compared with: set, list, remove.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
Reason = Annotated[str, typer.Option(help="Why this engine is approved as the baseline; stored with it.")]


@app.command("set")
def set_(
    models: Annotated[
        list[Path] | None, typer.Argument(metavar="MODEL...", help="ONNX files. None: all that assay.toml lists.")
    ] = None,
    reason: Reason = "",
    flow: Annotated[
        list[str] | None, typer.Option(help="Flow of the engine, for example onnxruntime. Repeatable.")
    ] = None,
    option: opt.BackendOptions = None,
    transform: opt.Transforms = None,
    golden: Annotated[Path | None, typer.Option(help="Golden folder whose first sample is the input.")] = None,
    dim: opt.Dims = None,
    input_range: opt.InputRanges = None,
    input_value: opt.InputValues = None,
    calibration: opt.Calibration = 0,
    inputs: opt.Given = "",
    fill: opt.Fill = "",
    state: opt.State = None,
    image: opt.Image = "",
    seed: opt.Seed = 0,
    samples: opt.Samples = None,
    batch: opt.Batch = None,
    measure_seconds: opt.MeasureSeconds = None,
    measure_batch: opt.MeasureBatches = None,
    threads: opt.Threads = None,
    timeout: opt.Timeout = None,
    memory: opt.Memory = "",
    config: Annotated[Path | None, typer.Option(help="TOML file that lists models and flows [assay.toml].")] = None,
    history: History = "",
) -> None:
    """Build and measure engines, and store them as baselines with who, when and why."""
    from assay.commands.baseline import set_baselines
    from assay.commands.check import CheckOptions
    from assay.reports import format as text

    options = CheckOptions(
        models=tuple(models or ()),
        flows=tuple(flow or ()),
        options=tuple(option or ()),
        transforms=tuple(transform or ()),
        golden=golden,
        dims=tuple(dim or ()),
        input_ranges=tuple(input_range or ()),
        input_values=tuple(input_value or ()),
        calibration=calibration,
        fill=fill,
        inputs=inputs,
        state=tuple(state or ()),
        image=image,
        seed=seed,
        samples=samples,
        batch=batch,
        measure_seconds=measure_seconds,
        measure_batches=tuple(measure_batch or ()),
        threads=threads,
        timeout_s=timeout,
        memory=memory,
        config=config,
        history=history,
        random_samples=0,
    )
    for one in set_baselines(options, reason):
        facts = one.result.facts
        made = f"{text.size(facts.artifact_bytes)}, {one.flow.backend} {facts.backend_version}"
        print(f"approved {one.case} on {one.flow.name}: {made}, by {one.who}: {one.reason}")


@app.command("list")
def list_(history: History = DEFAULT_HISTORY) -> None:
    """List all baselines, with who, when and why."""
    from assay.commands.baseline import list_baselines

    found = list_baselines(history)
    for one in found:
        built = f"{one.flow.backend} {one.result.facts.backend_version}; {one.machine.kind}"
        print(f"{one.case} on {one.flow.name} ({built}), {one.created_at[:16]} by {one.who}: {one.reason}")
    if not found:
        print("no baseline yet: assay baseline set MODEL --flow FLOW --reason WHY")


@app.command("remove")
def remove(
    case: Annotated[str, typer.Argument(help="Name of the case, as `assay baseline list` shows it.")],
    flow: Annotated[str, typer.Option(help="Flow of the engine.")],
    history: History = DEFAULT_HISTORY,
) -> None:
    """Remove the baseline of one model on one flow."""
    from assay.commands.baseline import remove_baseline

    print(f"{remove_baseline(case, flow, history)} removed")
