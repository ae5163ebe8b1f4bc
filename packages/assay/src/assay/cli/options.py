"""The options of `assay check`, `assay run` and `assay mutate`: each declared once, with its help; the commands give defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.task_metrics.registry import TASK_METRICS

Texts = list[str] | None

Flows = Annotated[
    Texts, typer.Option("--flow", help="Flow to run on, for example onnxruntime or openvino-f32. Repeatable.")
]
BackendOptions = Annotated[
    Texts, typer.Option("--option", metavar="NAME=VALUE", help="Set an option of the backend. Repeatable.")
]
Transforms = Annotated[
    Texts,
    typer.Option(
        "--transform",
        metavar="NAME[:ARGUMENT]",
        help="Transform the model before lowering, after the flow's own transforms. Repeatable.",
    ),
]
Policy = Annotated[Path | None, typer.Option("--policy", help="TOML file with limits and expected outcomes.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="TOML file that lists models, flows and limits [assay.toml].")
]
Require = Annotated[
    Texts,
    typer.Option(
        "--require",
        metavar="LIMIT",
        help='Fail unless a limit holds, for example "precision.float16 >= 0.8". Repeatable.',
    ),
]
Dims = Annotated[
    Texts,
    typer.Option(
        "--dim",
        metavar="NAME=SIZES",
        help="Sizes of a symbolic dimension or of 'input[2]': 96, 64,96,160, MIN:OPT:MAX or MIN:MAX:STEP. Repeatable.",
    ),
]
InputRanges = Annotated[
    Texts,
    typer.Option(
        "--input-range",
        metavar="NAME=LOW:HIGH",
        help="Smallest and largest value of an input, both included. Repeatable.",
    ),
]
InputValues = Annotated[
    Texts,
    typer.Option(
        "--input-value",
        metavar="NAME=VALUE",
        help="Value of an input; several with commas are used in turn. Repeatable.",
    ),
]

Golden = Annotated[
    Path | None,
    typer.Option(
        "--golden",
        metavar="DATA",
        help="Inputs and expected outputs: a golden folder, .npz, test_data_set_N, a function... [float64 reference].",
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        "--fill", metavar="NAME", help="How random inputs are filled: normal or exact (whole numbers) [normal]."
    ),
]
Given = Annotated[
    str,
    typer.Option(
        "--inputs",
        metavar="DATA",
        help="Inputs without outputs, for the reference to answer: .npy, .npz, a folder, images, module:function...",
    ),
]
State = Annotated[
    Texts,
    typer.Option(
        "--state",
        metavar="OUTPUT=INPUT",
        help="Feed an output back as an input of the next call (with --inputs or --golden). Repeatable.",
    ),
]
Image = Annotated[
    str,
    typer.Option(
        "--image",
        metavar="KEY=VALUE,...",
        help="Convert images to inputs: size=224x224,layout=NCHW,scale=1/255,mean=...,std=...",
    ),
]
Reference = Annotated[
    Path | None,
    typer.Option("--reference", metavar="MODEL", help="Compare with this model: the one that MODEL was made from."),
]
AnotherGolden = Annotated[
    bool,
    typer.Option("--golden-of-another-model", help="The golden was recorded for the model that MODEL was made from."),
]
MapInputs = Annotated[
    Texts,
    typer.Option(
        "--map-input", metavar="NEW=OLD", help="Input NEW of the model is input OLD of the reference. Repeatable."
    ),
]
MapOutputs = Annotated[
    Texts,
    typer.Option(
        "--map-output", metavar="NEW=OLD", help="Output NEW of the model is output OLD of the reference. Repeatable."
    ),
]
SaveInputs = Annotated[
    str, typer.Option("--save-inputs", metavar="PATH", help="Save the inputs of the run: an .npz, or a golden folder.")
]
SaveOutputs = Annotated[
    str,
    typer.Option("--save-outputs", metavar="PATH", help="Save the outputs of the engines: an .npz, or golden folders."),
]
Calibration = Annotated[
    int,
    typer.Option(
        "--calibration",
        min=0,
        help="Number of golden samples used for calibration and not judged. 0: a quarter, 128 at most.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed of generated inputs.")]
Samples = Annotated[
    int | None, typer.Option("--samples", min=1, help="Number of random samples (not with --golden) [4].")
]
Batch = Annotated[
    int | None, typer.Option("--batch", min=1, help="Batch size of random samples (not with --golden) [1].")
]
RandomSamples = Annotated[
    int | None,
    typer.Option(
        "--random-samples",
        min=0,
        help="Number of random samples to verify beside the golden, as the case NAME-random [0].",
    ),
]
Filters = Annotated[
    Texts,
    typer.Option(
        "--filter", metavar="GLOB", help="Run only the cases whose names match, for example 'conv2d*'. Repeatable."
    ),
]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="Run share I of N of the cases, chosen by digest.")]

Rtol = Annotated[float | None, typer.Option("--rtol", help="Relative tolerance for all outputs.")]
Atol = Annotated[float | None, typer.Option("--atol", help="Absolute tolerance for all outputs.")]
ToleranceKind = Annotated[
    str,
    typer.Option(
        "--tolerance",
        metavar="KIND",
        help="Tolerance of outputs without --rtol and --atol: derived, default, torch, onnx or fixed:RTOL,ATOL [derived].",
    ),
]
TaskMetric = Annotated[
    str,
    typer.Option(
        "--task-metric",
        metavar="KIND[:KEY=VALUE,...]",
        help=f"Metric of the outputs' meaning: {', '.join(TASK_METRICS)}; e.g. classification:output=scores.",
    ),
]

MeasureSeconds = Annotated[
    float | None,
    typer.Option("--measure-seconds", min=0.01, help="Sampling time per flow and batch size, in seconds [0.5]."),
]
MeasureBatches = Annotated[
    list[int] | None, typer.Option("--measure-batch", min=1, help="Batch size to measure at. Repeatable.")
]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="Number of threads of the engine while measuring [1].")
]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        min=0.1,
        help="Time limit of a job in seconds, without the import of the backend [300; for suites 60].",
    ),
]
DeriveTimeout = Annotated[
    float | None,
    typer.Option(
        "--derive-timeout", min=0.1, help="Time limit for deriving one tolerance, in seconds [four times --timeout]."
    ),
]
NoCache = Annotated[
    bool,
    typer.Option(
        "--no-cache",
        help="Lower again what an earlier run was refused, instead of reporting its kept refusal (see `assay cache list`).",
    ),
]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Limit of a job's resident memory, for example 4GB [no limit].")
]
Workers = Annotated[
    int, typer.Option("--workers", min=0, help="Number of workers that verify in parallel. 0: one per core.")
]
CompareRun = Annotated[
    str, typer.Option("--compare-run", metavar="RUN", help="Earlier run that degradation limits compare with.")
]
Only = Annotated[
    str, typer.Option("--only", metavar="JOB", help="Run only one job, CASE|FLOW|KIND (used by repro lines).")
]
