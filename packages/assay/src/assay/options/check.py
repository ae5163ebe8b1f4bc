"""The options of `assay check`, and of `assay baseline set`, which names its engines in the same way."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option, option_group, rows
from assay.options.groups import (
    ONLY,
    AlertOptions,
    CompareRunOptions,
    ConfigOptions,
    ConfiguredHistoryOptions,
    FlowOptions,
    MachineOptions,
    MeasureOptions,
    MemoryOptions,
    PolicyOptions,
    RepeatOptions,
    ReportOptions,
    TimeoutOptions,
    TransformOptions,
    WorkerOptions,
)
from assay.options.model_groups import AnswerOptions, InputOptions, JudgeOptions, RandomBesideOptions

MODELS = "ONNX files. None: all that assay.toml lists."
KINDS = ("verify", "per_node", "measure", "all")


@option_group
class KindOptions:
    """What is asked of each model on each flow."""

    baseline: bool = option(
        False,
        "Also compare the speed with the approved engine (see `assay baseline set`). Takes no value: --compare-run RUN names a run.",
    )
    only: str = option("", ONLY, metavar="JOB", once=True)
    only_kind: str = option(
        "all", "Run only this kind of job: verify, per_node or measure. all: verify and measure.", choices=KINDS
    )
    per_node: bool = option(
        False, "Also judge every node on the engine's own inputs, and name the first divergent node."
    )


@option_group
class DeriveOptions:
    """How long the derivation of a tolerance may take."""

    derive_timeout_s: float | None = option(
        None,
        "Time limit for deriving one tolerance, in seconds [four times --timeout].",
        flag="--derive-timeout",
        least=0.0,
        toml="limits.derive-timeout-s",
    )


@dataclass(frozen=True, kw_only=True)
class LimitOptions(TimeoutOptions, DeriveOptions, MemoryOptions, RepeatOptions):
    """What a job may take."""


@dataclass(frozen=True, kw_only=True)
class ModelOptions(AnswerOptions, InputOptions, RandomBesideOptions):
    """What is said of one model: its inputs, and what its answers are compared with."""


@option_group
class DemandOptions(PolicyOptions):
    """What decides the verdict, a requirement of the command line included."""

    require: tuple[str, ...] = option(
        (), 'Fail unless a limit holds, for example "precision.float16 >= 0.8". Repeatable.', metavar="LIMIT"
    )


@dataclass(frozen=True, kw_only=True)
class CheckOptions(
    ConfigOptions,
    FlowOptions,
    TransformOptions,
    ModelOptions,
    JudgeOptions,
    KindOptions,
    MeasureOptions,
    LimitOptions,
    WorkerOptions,
    MachineOptions,
    DemandOptions,
    CompareRunOptions,
    ReportOptions,
    AlertOptions,
    ConfiguredHistoryOptions,
):
    """What a user may say. `models` empty: everything that `config` (or ./assay.toml) lists. `history` empty: the config's, or `.assay`.
    `command` is what a report says was run."""

    models: tuple[Path, ...] = option((), MODELS, metavar="MODEL", argument=True)
    endpoint: str = option(
        "",
        "Also check the model that a service serves: .../v1 (completions) or .../v2 (Open Inference Protocol).",
        metavar="URL",
        once=True,
    )
    save_inputs: str = option("", "Save the inputs of the run: an .npz, or a golden folder.", metavar="PATH", once=True)
    save_outputs: str = option(
        "", "Save the outputs of the engines: an .npz, or golden folders.", metavar="PATH", once=True
    )
    trace: bool = option(
        False,
        "Keep the backend's own profile of what is measured, for Perfetto (ui.perfetto.dev).",
    )
    no_cache: bool = option(
        False,
        "Lower again what an earlier run was refused, instead of reporting its kept refusal (see `assay cache list`).",
    )
    command: str = "assay check"


@dataclass(frozen=True, kw_only=True)
class BaselineOptions(
    FlowOptions,
    TransformOptions,
    InputOptions,
    MeasureOptions,
    TimeoutOptions,
    MemoryOptions,
    ConfiguredHistoryOptions,
):
    """Which engines are approved, and why."""

    models: tuple[Path, ...] = option((), MODELS, metavar="MODEL", argument=True)
    reason: str = option("", "Why this engine is approved as the baseline; stored with it.")
    flows: tuple[str, ...] = option(
        (), "Flow of the engine, for example onnxruntime. Repeatable.", flag="--flow", metavar="FLOW"
    )
    golden: Path | None = option(None, "Golden folder whose first sample is the input.")
    config: Path | None = option(None, "TOML file that lists models and flows [assay.toml].")


def check_options(options: object) -> CheckOptions:
    """The options that another command shares with `assay check`, as its."""
    known = {row.name for row in rows(CheckOptions)}
    values = {row.name: getattr(options, row.name) for row in rows(type(options)) if row.name in known}
    return CheckOptions(**values)
