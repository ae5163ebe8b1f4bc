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
from assay.worker.native_warnings import note_of, parted, read_warnings
from assay.worker.stages import Stages


@dataclass
class Said:
    """While a model was lowered: Assay's own notes, and the warnings of the library."""

    notes: list[Note] = field(default_factory=list)
    native: tuple[NativeWarning, ...] = ()


@contextmanager
def capture_warnings(backend: Backend, stages: Stages) -> Iterator[Said]:
    """What is noted inside, which is given on, and what the library warned of. Where building fails, the job takes all of it."""
    captured = Said()
    printed, logged = len(stages.printed), len(stages.logged)
    caught: list[warnings.WarningMessage] = []
    try:
        with warned_by() as caught:
            yield captured
    except BaseException:
        for warning_message in caught:
            warnings.warn_explicit(
                warning_message.message, warning_message.category, warning_message.filename, warning_message.lineno
            )
        raise
    native, own = parted(caught)
    captured.native = read_warnings(backend, stages.printed[printed:], stages.logged[logged:], native)
    stages.warned += captured.native
    del stages.printed[printed:], stages.logged[logged:]
    for warning_message in own:
        captured.notes.append(known := note_of(warning_message))
        warnings.warn(NoteWarning(known), stacklevel=1)
