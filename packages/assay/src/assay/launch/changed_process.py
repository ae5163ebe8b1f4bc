"""What a job did to its process, and what others said on its connection, noted with its result."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.note import Note, NoteCode, noted
from assay.core.result import Result
from assay.core.wire import Changed


def with_notes(result: Result, changed: Sequence[Changed], noise: int) -> Result:
    """The result, with a warning where the next job would not have found the process as this one did, and where something was
    ignored."""
    notes = list[Note]()
    if changed:
        notes.append(noted(NoteCode.PROCESS_CHANGED, changed=tuple(change.value for change in changed)))
    if noise:
        notes.append(noted(NoteCode.MESSAGES_IGNORED, count=noise))
    return msgspec.structs.replace(result, notes=(*result.notes, *notes)) if notes else result
