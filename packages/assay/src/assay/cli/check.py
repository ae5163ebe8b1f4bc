"""`assay check`: models, flows and goldens in, a verdict out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from assay.cli import options as opt
from assay.cli.common import History, Reports, command_line, finish, progress_bar

Models = Annotated[
    list[Path] | None, typer.Argument(metavar="MODEL...", help="ONNX files. None: all that assay.toml lists.")
]
OnlyKind = Annotated[
    str, typer.Option(help="Run only this kind of job: verify, per_node or measure. all: verify and measure.")
]
PerNode = Annotated[
    bool,
    typer.Option(
        "--per-node", help="Also judge every node on the engine's own inputs, and name the first divergent node."
    ),
]
Details = Annotated[
    bool, typer.Option("--details", help="Show the values of every output, and its errors with quantiles.")
]
Baseline = Annotated[
    bool, typer.Option("--baseline", help="Also compare the speed with the approved engine (see `assay baseline set`).")
]


def check(
    models: Models = None,
    flow: opt.Flows = None,
    golden: opt.Golden = None,
    reference: opt.Reference = None,
    golden_of_another_model: opt.AnotherGolden = False,
    map_input: opt.MapInputs = None,
    map_output: opt.MapOutputs = None,
    config: opt.Config = None,
    policy: opt.Policy = None,
    report: Reports = None,
    only_kind: OnlyKind = "all",
    per_node: PerNode = False,
    option: opt.BackendOptions = None,
    transform: opt.Transforms = None,
    require: opt.Require = None,
    dim: opt.Dims = None,
    input_range: opt.InputRanges = None,
    input_value: opt.InputValues = None,
    calibration: opt.Calibration = 0,
    task_metric: opt.TaskMetric = "",
    rtol: opt.Rtol = None,
    atol: opt.Atol = None,
    tolerance: opt.ToleranceKind = "",
    inputs: opt.Given = "",
    fill: opt.Fill = "",
    state: opt.State = None,
    image: opt.Image = "",
    seed: opt.Seed = 0,
    samples: opt.Samples = None,
    batch: opt.Batch = None,
    random_samples: opt.RandomSamples = None,
    measure_seconds: opt.MeasureSeconds = None,
    measure_batch: opt.MeasureBatches = None,
    threads: opt.Threads = None,
    timeout: opt.Timeout = None,
    derive_timeout: opt.DeriveTimeout = None,
    memory: opt.Memory = "",
    workers: opt.Workers = 0,
    compare_run: opt.CompareRun = "",
    baseline: Baseline = False,
    details: Details = False,
    only: opt.Only = "",
    history: History = "",
    save_inputs: opt.SaveInputs = "",
    save_outputs: opt.SaveOutputs = "",
    no_cache: opt.NoCache = False,
) -> None:
    """Build, verify and measure models on every flow; judge; exit 0 only if all is well."""
    from assay.launch.idle import IdleWorkers

    with progress_bar() as progress, IdleWorkers() as idle:
        # What takes the longest to import comes after the first line, and the first worker imports meanwhile.
        idle.start_numpy()
        from assay.commands.check import CheckOptions, run_check

        options = CheckOptions(
            models=tuple(models or ()), flows=tuple(flow or ()), golden=golden, reference=reference,
            golden_of_another_model=golden_of_another_model, map_inputs=tuple(map_input or ()),
            map_outputs=tuple(map_output or ()), config=config, policy=policy,
            reports=tuple(report or ()), only_kind=only_kind, per_node=per_node, options=tuple(option or ()),
            transforms=tuple(transform or ()), require=tuple(require or ()), dims=tuple(dim or ()),
            input_ranges=tuple(input_range or ()), input_values=tuple(input_value or ()),
            calibration=calibration, task_metric=task_metric, rtol=rtol, atol=atol, tolerance=tolerance, seed=seed,
            fill=fill, inputs=inputs, state=tuple(state or ()), image=image,
            samples=samples, batch=batch, random_samples=random_samples,
            measure_seconds=measure_seconds, measure_batches=tuple(measure_batch or ()),
            threads=threads, timeout_s=timeout, derive_s=derive_timeout, memory=memory, workers=workers, compare_run=compare_run,
            baseline=baseline,
            history=history, only=only, save_inputs=save_inputs, save_outputs=save_outputs, no_cache=no_cache,
            command=command_line(sys.argv[1:]),
        )  # fmt: skip
        checked = run_check(options, progress, idle)
    finish(checked, [f"report: {text.partition('=')[2]}" for text in options.reports], details)
