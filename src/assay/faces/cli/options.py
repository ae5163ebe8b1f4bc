"""The options of `assay check`, `assay run` and `assay mutate`: each declared once, with its help; the commands give defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Texts = list[str] | None

Flows = Annotated[Texts, typer.Option("--flow", help="A flow, for example onnxruntime or openvino-f32. Repeatable.")]
BackendOptions = Annotated[
    Texts, typer.Option("--option", metavar="NAME=VALUE", help="Option of the backend. Repeatable.")
]
Transforms = Annotated[
    Texts,
    typer.Option(
        "--transform",
        metavar="NAME[:ARGUMENT]",
        help="Transform before lowering, after the flow's own. Repeatable.",
    ),
]
Policy = Annotated[Path | None, typer.Option("--policy", help="Limits and expectations, a TOML file.")]
Config = Annotated[
    Path | None, typer.Option("--config", help="The file that lists models, flows and limits [assay.toml].")
]
Require = Annotated[
    Texts, typer.Option("--require", metavar="LIMIT", help='For example "precision.float16 >= 0.8". Repeatable.')
]
Dims = Annotated[
    Texts,
    typer.Option(
        "--dim",
        metavar="NAME=SIZES",
        help="Sizes of a symbolic dimension, or of 'input[2]': 96, 64,96,160, MIN:OPT:MAX or MIN:MAX:STEP. Repeatable.",
    ),
]
InputRanges = Annotated[
    Texts,
    typer.Option("--input-range", metavar="NAME=LOW:HIGH", help="Values of an input, both included. Repeatable."),
]
InputValues = Annotated[
    Texts,
    typer.Option(
        "--input-value", metavar="NAME=VALUE", help="An input that has one value, or several in turn. Repeatable."
    ),
]

Golden = Annotated[
    Path | None,
    typer.Option(
        "--golden",
        metavar="DATA",
        help="Inputs and expected outputs: a golden folder, .npz, test_data_set_N, a function... Without it: the float64 reference.",
    ),
]
Given = Annotated[
    str,
    typer.Option(
        "--inputs",
        metavar="DATA",
        help="Inputs alone, answered by the reference: .npy, .npz, a folder, images, module:function... Or how random ones are "
        "filled: normal, exact [normal].",
    ),
]
State = Annotated[
    Texts,
    typer.Option(
        "--state", metavar="OUTPUT=INPUT", help="Of --inputs, --golden: fed back in the next call. Repeatable."
    ),
]
Image = Annotated[
    str,
    typer.Option(
        "--image",
        metavar="KEY=VALUE,...",
        help="How images become inputs: size=224x224,layout=NCHW,scale=1/255,mean=...,std=...",
    ),
]
Reference = Annotated[
    Path | None,
    typer.Option(
        "--reference", metavar="MODEL", help="The model that this one is to be still, before it was rewritten."
    ),
]
AnotherGolden = Annotated[
    bool,
    typer.Option("--golden-of-another-model", help="The golden was recorded for the model before it was rewritten."),
]
MapInputs = Annotated[
    Texts, typer.Option("--map-input", metavar="NEW=OLD", help="Which input of the reference it is. Repeatable.")
]
MapOutputs = Annotated[
    Texts, typer.Option("--map-output", metavar="NEW=OLD", help="Which output of the reference it is. Repeatable.")
]
SaveInputs = Annotated[
    str, typer.Option("--save-inputs", metavar="PATH", help="Keep what was fed: an .npz, or a golden folder.")
]
SaveOutputs = Annotated[
    str, typer.Option("--save-outputs", metavar="PATH", help="Keep what engines answer: an .npz, or golden folders.")
]
Calibration = Annotated[
    int,
    typer.Option(
        "--calibration",
        min=0,
        help="Golden samples kept for calibration and not judged. 0: a quarter, 128 at most.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Of the inputs that are drawn.")]
Samples = Annotated[int | None, typer.Option("--samples", min=1, help="How many, where there is no golden [4].")]
Batch = Annotated[int | None, typer.Option("--batch", min=1, help="Their batch size, where there is no golden [1].")]
Drawn = Annotated[
    int | None,
    typer.Option(
        "--drawn", min=0, help="Inputs drawn beside the golden, by --seed: a case of their own, NAME-drawn [0]."
    ),
]
Filters = Annotated[Texts, typer.Option("--filter", metavar="GLOB", help="Cases by name: 'conv2d*'. Repeatable.")]
Shard = Annotated[str, typer.Option("--shard", metavar="I/N", help="One of N shares of the cases, by digest.")]

Rtol = Annotated[float | None, typer.Option("--rtol", help="Relative tolerance for all outputs.")]
Atol = Annotated[float | None, typer.Option("--atol", help="Absolute tolerance for all outputs.")]
ToleranceKind = Annotated[
    str,
    typer.Option(
        "--tolerance",
        metavar="KIND",
        help="derived, default, torch, onnx or fixed:RTOL,ATOL, where none is given [derived].",
    ),
]
Answers = Annotated[
    str,
    typer.Option(
        "--answers",
        metavar="KIND[:KEY=VALUE,...]",
        help="What the outputs mean: classification, detection, segmentation or transcription; classification:output=scores.",
    ),
]

MeasureSeconds = Annotated[
    float | None, typer.Option("--measure-seconds", min=0.01, help="Of sampling, per flow and batch size [0.5].")
]
MeasureBatches = Annotated[
    list[int] | None, typer.Option("--measure-batch", min=1, help="Batch size to measure. Repeatable.")
]
Threads = Annotated[int | None, typer.Option("--threads", min=1, help="Threads of the engine while measuring [1].")]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.1, help="Seconds per job, importing the backend apart [300; of a suite 60]."),
]
DeriveTimeout = Annotated[
    float | None,
    typer.Option("--derive-timeout", min=0.1, help="Seconds for deriving one tolerance [four times --timeout]."),
]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Resident memory per job, for example 4GB [no limit].")
]
Workers = Annotated[int, typer.Option("--jobs", min=0, help="Workers that verify at once. 0: one per core.")]
Against = Annotated[str, typer.Option("--against", metavar="RUN", help="The run that degradation limits compare with.")]
Only = Annotated[
    str, typer.Option("--only", metavar="JOB", help="One job of the run, CASE|FLOW|TASK: what repro lines use.")
]
