"""Options that several commands share, a class for each thing that they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.options.declaration import option, option_group
from assay.task_metrics.registry import TASK_METRICS

if TYPE_CHECKING:
    from assay.core.data import Picture
    from assay.core.flow import Option as Value
    from assay.core.input_plan import InputRange
    from assay.options.sizes import Sizes
    from assay.options.task_metric import MetricChoice

FILLS = ("normal", "exact")
DEFAULT_HISTORY = ".assay"
DEFAULT_CONFIG = "assay.toml"
"""What `assay check` reads where it is given no model."""
REPORTS = "html, json, junit, markdown, csv, per-node, terminal; of suites suite-csv, suite-markdown, matrix, operators"
"""Ours, for the help: a plug-in may bring others."""


@option_group
class FlowOptions:
    """On which flows."""

    flows: tuple[str, ...] = option(
        (), "Flow to run on, for example onnxruntime or openvino-f32. Repeatable.", flag="--flow", toml="flows.use"
    )
    options: Mapping[str, Value] = option(
        {}, "Set an option of the backend. Repeatable.", flag="--option", metavar="NAME=VALUE", kind="backend option"
    )


@option_group
class TransformOptions:
    """What is done to a model before it is lowered."""

    transforms: tuple[str, ...] = option(
        (),
        "Transform the model before lowering, after the flow's own transforms. Repeatable.",
        flag="--transform",
        metavar="NAME[:ARGUMENT]",
    )


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
        "Inputs without outputs, for the reference to answer: .npy, .npz, a folder, images, module:function...",
        metavar="DATA",
        toml="model.inputs",
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


@dataclass(frozen=True, kw_only=True)
class MeasureOptions:
    """How speed is measured."""

    measure_seconds: float | None = option(
        None, "Sampling time per flow and batch size, in seconds [0.5].", least=0.01, toml="measure.seconds"
    )
    measure_batches: tuple[int, ...] = option(
        (), "Batch size to measure at. Repeatable.", flag="--measure-batch", least=1, toml="measure.batches"
    )
    threads: int | None = option(
        None, "Number of threads of the engine while measuring [1].", least=1, toml="measure.threads"
    )


@option_group
class TimeoutOptions:
    """How long a job may take."""

    timeout_s: float | None = option(
        None,
        "Time limit of a job in seconds, without the import of the backend [300; for suites 60].",
        flag="--timeout",
        least=0.1,
        toml="limits.timeout-s",
    )


@option_group
class MemoryOptions:
    """How much memory a job may take."""

    memory_bytes: int | None = option(
        None,
        "Limit of a job's resident memory, for example 4GB [no limit].",
        flag="--memory",
        metavar="SIZE",
        kind="bytes",
        toml="limits.memory",
    )


HISTORY = "Where runs are recorded: a folder, or a postgresql+psycopg:// URL."


@option_group
class HistoryOptions:
    """Where runs are kept."""

    history: str = option(
        DEFAULT_HISTORY,
        HISTORY,
        metavar="FOLDER",
        toml="history",
    )


@option_group
class ConfiguredHistoryOptions:
    """Where runs are kept: "" where the configuration says."""

    history: str = option("", HISTORY, metavar="FOLDER", toml="history")


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What is written of a run."""

    reports: tuple[tuple[str, Path], ...] = option(
        (),
        f"Write a report: {REPORTS}. Repeatable.",
        flag="--report",
        metavar="NAME=FILE",
        kind="report",
        once=True,
    )


@option_group
class ConfigOptions:
    """What lists the models."""

    config: Path | None = option(None, "TOML file that lists models, flows and limits [assay.toml].")


@option_group
class PolicyOptions:
    """What decides the verdict."""

    policy: Path | None = option(None, "TOML file with limits and expected outcomes.")


@option_group
class WorkerOptions:
    """How many jobs run at a time."""

    workers: int = option(0, "Number of workers that verify in parallel. 0: one per core.", least=0)


@option_group
class CompareRunOptions:
    """What a run is compared with."""

    compare_run: str = option("", "Earlier run that degradation limits compare with.", metavar="RUN")


ONLY = "Run only one job, CASE|FLOW|KIND (used by repro lines)."


@option_group
class OnlyOptions:
    """One job of a run."""

    only: str = option("", ONLY, metavar="JOB", once=True)


@option_group
class CaseOptions:
    """Which cases of suites are run."""

    filters: tuple[str, ...] = option(
        (),
        "Run only the cases whose names match, for example 'conv2d*'. Repeatable.",
        flag="--filter",
        metavar="GLOB",
    )
    shard: str = option("1/1", "Run share I of N of the cases, chosen by digest.", metavar="I/N")
