"""A blessed engine, so that it can be run again beside the next one."""

from __future__ import annotations

import msgspec

from assay.core.flow import Flow
from assay.core.machine import Machine
from assay.core.model import Model
from assay.core.result import Result


class Baseline(msgspec.Struct, frozen=True):
    """baseline.json. The artifact and a golden folder with the inputs lie beside it; `result` is what was measured when it
    was blessed, `machine` where: its figures mean nothing on another one."""

    case: str
    model: Model
    flow: Flow
    machine: Machine
    result: Result
    who: str
    why: str
    created_at: str
    version: int = 1
