"""The options of `assay mutate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.options.declaration import option
from assay.options.groups import (
    AlertOptions,
    CaseOptions,
    ConfigOptions,
    ConfiguredHistoryOptions,
    FlowOptions,
    OnlyOptions,
    PolicyOptions,
    ReportOptions,
    TimeoutOptions,
    WorkerOptions,
)
from assay.options.model_groups import RandomOptions, StatedOptions, ToleranceOptions


@dataclass(frozen=True, kw_only=True)
class MutateOptions(
    FlowOptions,
    CaseOptions,
    RandomOptions,
    StatedOptions,
    PolicyOptions,
    ConfigOptions,
    ToleranceOptions,
    ReportOptions,
    AlertOptions,
    TimeoutOptions,
    WorkerOptions,
    OnlyOptions,
    ConfiguredHistoryOptions,
):
    """What a user may say. `models` are one file, or the names of suites. `command` is what a report says was run."""

    models: tuple[Path, ...] = option(
        (), "One ONNX file or exported program, or suites.", metavar="MODEL|SUITE", argument=True, needed=True
    )
    goldens: tuple[Path, ...] = option(
        (),
        "Golden folder of the model. Repeatable. Without it: random inputs and the float64 reference.",
        flag="--golden",
        metavar="FOLDER",
    )
    limit: int = option(120, "Largest number of mutants per flow, spread over the operators. 0: all.", least=0)
    sites: int = option(3, "Number of nodes to mutate for each operator: first, last, middle, then any.", least=1)
    seed: int = option(0, "Random seed of the mutants, of the inputs of the search and of a suite.")
    add_inputs: str = option("", "Add inputs that kill survivors to the golden set, for this reason.", metavar="REASON")
    per_node: bool = option(False, "Judge every node on the engine's own inputs instead.")
    command: str = "assay mutate"
