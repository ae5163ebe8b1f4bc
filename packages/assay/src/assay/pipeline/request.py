"""What a user asks of one run, after names were resolved and before any file was opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from assay.core.case import Contract, Inputs
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.core.policy import Policy
from assay.core.run import ModelSource
from assay.pipeline.references.originals import OriginalRequest


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """One model and the flows it is to go through. `name` empty: the file's own name; `random_samples`: that
    many random inputs beside its golden; `verified`: only that; `original` the model that this one is to be still, whose golden is
    then that of `inputs`. `prompts_of_golden`: its data are those of a golden that keeps prompts alone."""

    path: Path
    flows: tuple[Flow, ...]
    name: str = ""
    inputs: Inputs = field(default_factory=Inputs)
    contract: Contract = field(default_factory=Contract)
    random_samples: int = 0
    verified: bool = False
    original: OriginalRequest | None = None
    prompts_of_golden: bool = False


@dataclass(frozen=True, kw_only=True)
class Request:
    """Everything that decides what a run does. `baseline` is the id of a run to compare metrics with ("" for none);
    `per_node` judges node by node, too; `compare_speed` asks for a comparison with the approved engine of every cell;
    `measuring` None leaves measuring out; `only` keeps one job (`case|flow|kind`) of those; `save_inputs` and `save_outputs` are
    where inputs and answers are kept: an .npz, or a folder of goldens ("": nowhere). `trace` keeps the backend's profile of what is
    measured. With `no_cache` a refusal that an earlier run has kept is removed, and the model lowered again. `sources` are those of its
    models that the user named by where they come from."""

    models: tuple[ModelRequest, ...]
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    measuring: Measuring | None = field(default_factory=Measuring)
    verify: bool = True
    per_node: bool = False
    command: str = "assay check"
    baseline: str = ""
    compare_speed: bool = False
    only: str = ""
    save_inputs: str = ""
    save_outputs: str = ""
    trace: bool = False
    no_cache: bool = False
    sources: tuple[ModelSource, ...] = ()
