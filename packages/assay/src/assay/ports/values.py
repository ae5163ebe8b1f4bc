"""What passes between Assay and a plug-in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from assay.core.flow import Option
from assay.core.note import Note

Tensor = np.ndarray[Any, Any]
Tensors = Mapping[str, Tensor]
"""Name to array. bfloat16, fp8 and int4 arrays carry the dtypes of ml_dtypes."""


class OptionSpec(msgspec.Struct, frozen=True):
    """One option of a backend: its default, what it may be (empty: any of the default's type), and what it does. `allowance` is
    the one that a flow has no claim to where this is false. `tried` are values that triage tries besides, `of_processor`: it says which
    instructions of the processor may be used. `path`: it names a file or a folder, whose content decides what is lowered. A name that
    begins with `assay.core.flow.VARIABLE` is a variable of the process."""

    name: str
    default: Option
    choices: tuple[Option, ...] = ()
    help: str = ""
    allowance: str = ""
    tried: tuple[Option, ...] = ()
    of_processor: bool = False
    path: bool = False


class Availability(msgspec.Struct, frozen=True):
    """Whether a backend can run here. `install` is the command that would make it available. `reason` are words of a plug-in, or a note,
    whose sentence the driver makes."""

    available: bool
    version: str = ""
    reason: str | Note = ""
    install: str = ""
