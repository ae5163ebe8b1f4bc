"""An approved engine, so that it can be run again beside the next one."""

from __future__ import annotations

import msgspec

from assay.core.case import Inputs
from assay.core.flow import Flow
from assay.core.limits import Limits, Measuring
from assay.core.machine import Machine
from assay.core.model import Model
from assay.core.result import MeasureResult

VERSION = 1
"""Of the layout of baseline.json and what lies beside it."""


class Fingerprint(msgspec.Struct, frozen=True):
    """What must be equal for stored samples to stand in for an engine; each field in words that a person can compare.

    `clocks` is the governor and the range of the processor's frequency, "" where the system does not tell.
    """

    machine: str = ""
    driver: str = ""
    clocks: str = ""
    threads: int = 0
    batch: int = 0
    mode: str = ""


class Recipe(msgspec.Struct, frozen=True):
    """What its job was given: the same again makes the same baseline."""

    inputs: Inputs
    measuring: Measuring
    limits: Limits


class Baseline(msgspec.Struct, frozen=True):
    """baseline.json. The artifact and a golden folder with the inputs lie beside it; `result` is what was measured when it
    was approved, `machine` where: its metrics mean nothing on another one. `samples` are CPU seconds per call, one for
    each fresh engine of a comparison with itself, taken under `fingerprint`: what is left when the engine cannot be run again. `run` is the
    run that it passed in, "" where it was built for the approval. `replaces` is the `identity` of the engine that was current when this one
    was approved, "" where none was, None where it could not be read. Baselines of earlier versions have no `id`, and None for `replaces`
    and `recipe`."""

    case: str
    model: Model
    flow: Flow
    machine: Machine
    result: MeasureResult
    who: str
    reason: str
    created_at: str
    version: int = VERSION
    samples: tuple[float, ...] = ()
    fingerprint: Fingerprint = Fingerprint()
    run: str = ""
    id: str = ""
    replaces: str | None = None
    recipe: Recipe | None = None

    @property
    def identity(self) -> str:
        """What tells it from all others of its cell."""
        return self.id or self.created_at
