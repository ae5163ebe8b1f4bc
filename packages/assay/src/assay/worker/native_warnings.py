"""What the library of a backend warned of, whichever way it said it: printed, or by Python's `warnings`."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import assay
from assay.core.finding import Fact
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.core.wire import encodable
from assay.ports import Backend, NativeText, ReadsWarnings
from assay.worker.describe_exception import exception_text

MOST = 200
"""Warnings recorded of one job."""
LONGEST = 400
_OWN = tuple(f"{Path(place)}/" for place in assay.__path__)
_DEPRECATED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


def is_native(one: warnings.WarningMessage) -> bool:
    """Whether a library said it; what Assay itself notes of a job is given from a file of its own."""
    if issubclass(one.category, NoteWarning):
        return False
    return issubclass(one.category, NativeText) or not one.filename.startswith(_OWN)


def note_of(one: warnings.WarningMessage) -> Note:
    """What is noted of it: words of a library are noted as such."""
    if issubclass(one.category, NoteWarning):
        return cast(NoteWarning, one.message).note
    said = exception_text(one.message) if isinstance(one.message, Warning) else str(one.message).strip()
    return noted(NoteCode.LIBRARY_SAID, text=said)


def bounded(note: Note) -> Note:
    """With texts of others cut, as text that can be written."""
    return Note(note.code, {name: _bounded(fact) for name, fact in note.facts.items()})


def _bounded(fact: Fact | Note) -> Fact | Note:
    if isinstance(fact, Note):
        return bounded(fact)
    return encodable(fact)[:LONGEST] if isinstance(fact, str) else fact


def read_warnings(
    backend: Backend | None, printed: Sequence[str], caught: Iterable[warnings.WarningMessage]
) -> tuple[NativeWarning, ...]:
    """Each once, in the order given. What is printed means something only to a backend that reads it; of what came by `warnings` the
    category tells the rest."""
    found: list[NativeWarning] = []
    reader: ReadsWarnings | None = backend if isinstance(backend, ReadsWarnings) else None
    if reader is not None:
        for text in printed:
            found += reader.read_warnings(text)
    for one in caught:
        said = exception_text(one.message) if isinstance(one.message, Warning) else str(one.message)
        read = reader.read_warnings(said) if reader is not None else ()
        found += [part for part in read if part.code is not WarningCode.OTHER] or [_by_category(one, said)]
    return distinct(found)


def distinct(found: Iterable[NativeWarning]) -> tuple[NativeWarning, ...]:
    """Each once, bounded in number and length, as text that can be written."""
    kept = dict.fromkeys(
        NativeWarning(one.code, encodable(one.node)[:LONGEST], encodable(one.text)[:LONGEST], one.count)
        for one in found
    )
    return tuple(kept)[:MOST]


def _by_category(one: warnings.WarningMessage, said: str) -> NativeWarning:
    code = WarningCode.DEPRECATED if issubclass(one.category, _DEPRECATED) else WarningCode.OTHER
    return NativeWarning(code, text=" ".join(said.split()))
