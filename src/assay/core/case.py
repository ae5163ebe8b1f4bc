"""One model with one recipe of inputs and its precision contract."""

from __future__ import annotations

import msgspec

from assay.core.model import Model


class Tolerance(msgspec.Struct, frozen=True):
    """What a user allows for one output: `|actual - expected| <= atol + rtol * |expected|`. None: the default of the contract."""

    rtol: float | None = None
    atol: float | None = None


class Contract(msgspec.Struct, frozen=True):
    """The precision a flow promises, and what a user allows on top.

    `precision` is the coarsest type in which the flow may multiply; outputs are judged against its unit roundoff.
    `tolerances` maps an output name (or `*`) to explicit limits; `task` names what users mean by "same answer"
    (classification, detection, segmentation), if anything beyond the tensors.
    """

    precision: str = "float32"
    tolerances: dict[str, Tolerance] = {}
    task: str | None = None
    task_options: dict[str, str | int | float | bool] = {}


class Inputs(msgspec.Struct, frozen=True):
    """Where the inputs come from: a golden folder (stored samples), or a seed (`golden` empty)."""

    golden: str = ""
    seed: int = 0
    samples: int = 4
    batch: int = 1


class Case(msgspec.Struct, frozen=True):
    """What is asked of a flow. `name` is unique inside a run."""

    name: str
    model: Model
    inputs: Inputs = Inputs()
    contract: Contract = Contract()
