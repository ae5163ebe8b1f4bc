"""What is noted and warned of while a model is lowered, so that an artifact from the cache says it again."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from assay.core.native_warning import NativeWarning
from assay.core.note import Note, NoteWarning
from assay.ports import Backend
from assay.worker.native_log import warned_by
from assay.worker.native_warnings import is_native, note_of, read_warnings
from assay.worker.stages import Stages


@dataclass
class Said:
    """While a model was lowered: Assay's own notes, and the warnings of the library."""

    notes: list[Note] = field(default_factory=list)
    native: tuple[NativeWarning, ...] = ()


@contextmanager
def capture_warnings(backend: Backend, stages: Stages) -> Iterator[Said]:
    """What is noted inside, which is given on, and what the library warned of. Where building fails, the job takes all of it."""
    said = Said()
    printed, logged = len(stages.printed), len(stages.logged)
    caught: list[warnings.WarningMessage] = []
    try:
        with warned_by() as caught:
            yield said
    except BaseException:
        for one in caught:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        raise
    native = [one for one in caught if is_native(one)]
    said.native = read_warnings(backend, stages.printed[printed:], stages.logged[logged:], native)
    stages.warned += said.native
    del stages.printed[printed:], stages.logged[logged:]
    for one in caught:
        if one not in native:
            said.notes.append(known := note_of(one))
            warnings.warn(NoteWarning(known), stacklevel=1)
