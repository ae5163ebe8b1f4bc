"""Options that say of a model what it is fed and what its answers are compared with, a class for each."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.options.declaration import option, option_group
from assay.task_metrics.registry import TASK_METRICS

if TYPE_CHECKING:
    from assay.core.data import Picture
    from assay.core.input_plan import InputRange
    from assay.options.sizes import Sizes
    from assay.options.task_metric import MetricChoice

FILLS = ("normal", "exact")


@option_group
class AnswerOptions:
    """What the answers of a model are compared with."""

    reference: Path | None = option(
        None,
        "Compare with this model: the one that MODEL was made from.",
        metavar="MODEL",
        toml="model.reference",
        of_model=True,
    )
    golden: Path | None = option(
        None,
        "Inputs and expected outputs: a golden folder, .npz, test_data_set_N, a function... [float64 reference].",
        metavar="DATA",
        toml="model.golden",
        of_model=True,
    )
    golden_of_another_model: bool = option(
        False,
        "The golden was recorded for the model that MODEL was made from.",
        toml="model.golden-of-another-model",
        of_model=True,
    )
    map_inputs: Mapping[str, str] = option(
        {},
        "Input NEW of the model is input OLD of the reference. Repeatable.",
        flag="--map-input",
        metavar="NEW=OLD",
        kind="map",
        toml="model.map-inputs",
        of_model=True,
    )
    map_outputs: Mapping[str, str] = option(
        {},
        "Output NEW of the model is output OLD of the reference. Repeatable.",
        flag="--map-output",
        metavar="NEW=OLD",
        kind="map",
        toml="model.map-outputs",
        of_model=True,
    )


@option_group
class StatedOptions:
    """What is said of the sizes and values of inputs."""

    dims: Mapping[str, Sizes] = option(
        {},
        "Sizes of a symbolic dimension or of 'input[2]': 96, 64,96,160, MIN:OPT:MAX or MIN:MAX:STEP. Repeatable.",
        flag="--dim",
        metavar="NAME=SIZES",
        kind="sizes",
        toml="model.dims",
    )
    input_ranges: Mapping[str, InputRange] = option(
        {},
        "Smallest and largest value of an input, both included. Repeatable.",
        flag="--input-range",
        metavar="NAME=LOW:HIGH",
        kind="range",
        toml="model.input-ranges",
    )
    input_values: Mapping[str, InputRange] = option(
        {},
        "Value of an input; several with commas are used in turn. Repeatable.",
        flag="--input-value",
        metavar="NAME=VALUE",
        kind="values",
        toml="model.input-values",
    )


@option_group
class DataOptions:
    """Inputs as people have them, and how they are read."""

    inputs: str = option(
        "",
        "Inputs without outputs, for the reference to answer: .npy, .npz, a folder, images, prompts, module:function...",
        metavar="DATA",
        toml="model.inputs",
        of_model=True,
    )
    tokenizer: str = option(
        "",
        "The tokenizer.json that makes tokens of the text of prompts (with --inputs prompts.txt or .jsonl).",
        metavar="FILE",
        toml="model.tokenizer",
        of_model=True,
    )
    state: Mapping[str, str] = option(
        {},
        "Feed an output back as an input of the next call (with --inputs or --golden). Repeatable.",
        metavar="OUTPUT=INPUT",
        kind="state",
        toml="model.state",
        of_model=True,
    )
    image: Picture | None = option(
        None,
        "Convert images to inputs: size=224x224,layout=NCHW,scale=1/255,mean=...,std=...",
        metavar="KEY=VALUE,...",
        kind="image",
        toml="model.image",
        of_model=True,
    )


@option_group
class RandomOptions:
    """How random inputs are made."""

    seed: int = option(0, "Random seed of generated inputs.", toml="model.seed", of_model=True)
    samples: int | None = option(
        None, "Number of random samples (not with --golden) [4].", least=1, toml="model.samples", of_model=True
    )
    batch: int | None = option(
        None, "Batch size of random samples (not with --golden) [1].", least=1, toml="model.batch", of_model=True
    )


@option_group
class SampleOptions:
    """Which numbers random inputs are, and which samples of a golden are judged."""

    fill: str = option(
        "",
        "How random inputs are filled: normal or exact (whole numbers) [normal].",
        metavar="NAME",
        choices=FILLS,
        toml="model.fill",
        of_model=True,
    )
    calibration: int = option(
        0,
        "Number of golden samples used for calibration and not judged. 0: a quarter, 128 at most.",
        least=0,
        toml="model.calibration",
    )


@option_group
class InputOptions(DataOptions, RandomOptions, SampleOptions, StatedOptions):
    """All that is said of the inputs of a model, its golden apart."""


@option_group
class RandomBesideOptions:
    """Random inputs beside those of a golden."""

    random_samples: int | None = option(
        None,
        "Number of random samples to verify beside the golden, as the case NAME-random [0].",
        least=0,
        toml="model.random-samples",
    )


@option_group
class ToleranceOptions:
    """What is allowed for all outputs."""

    rtol: float | None = option(None, "Relative tolerance for all outputs.", of_model=True)
    atol: float | None = option(None, "Absolute tolerance for all outputs.", of_model=True)


@option_group
class MeaningOptions:
    """What "the same answer" means."""

    task_metric: MetricChoice | None = option(
        None,
        f"Metric of the outputs' meaning: {', '.join(TASK_METRICS)}; e.g. classification:output=scores.",
        metavar="KIND[:KEY=VALUE,...]",
        kind="task metric",
        toml="model.task-metric",
        of_model=True,
    )
    tolerance: str = option(
        "",
        "Tolerance of outputs without --rtol and --atol: derived, default, torch, onnx or fixed:RTOL,ATOL [derived].",
        metavar="KIND",
        toml="model.tolerance",
    )


@option_group
class JudgeOptions(MeaningOptions, ToleranceOptions):
    """What outputs are judged by."""
