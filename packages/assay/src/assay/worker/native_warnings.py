"""What the library of a backend warned of, whichever way it said it: printed, by Python's loggers, or by its `warnings`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

import msgspec

import assay
from assay.core.finding import Fact
from assay.core.native_warning import NativeWarning, WarningCode
from assay.core.note import Note, NoteCode, NoteWarning, noted
from assay.core.wire import encodable
from assay.ports import Backend, NativeText, ReadsWarnings
from assay.worker.describe_exception import exception_text, type_name

MOST = 200
"""Warnings recorded of one job."""
LONGEST = 400
SHORTEST = 8
"""Characters by which a printed line is known as a logger's."""
_OWN = tuple(f"{Path(place)}/" for place in assay.__path__)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
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
    backend: Backend | None, printed: Sequence[str], logged: Sequence[str], caught: Iterable[warnings.WarningMessage]
) -> tuple[NativeWarning, ...]:
    """Each once, in the order given. What is printed means something only to a backend that reads it. What Python's loggers and
    `warnings` gave goes to it as Python itself prints it, a line each; without such a backend it is `other`."""
    reader: ReadsWarnings | None = backend if isinstance(backend, ReadsWarnings) else None
    if reader is None:
        return distinct([*map(_as_logged, logged), *map(_by_category, caught)])
    found: list[NativeWarning] = []
    for text in printed:
        found += _read_by(reader, _without(text, logged))
    for text in logged:
        found += _read_by(reader, _one_line(text))
    for one in caught:
        found += [_refined(part, one) for part in _read_by(reader, _as_python_prints(one))]
    return distinct(found)


def _read_by(reader: ReadsWarnings, text: str) -> tuple[NativeWarning, ...]:
    """Of a plug-in that fails on these words they are `other`: they cost no answer, and none is lost."""
    with suppress(Exception):
        found = tuple(reader.read_warnings(text))
        if all(isinstance(one, NativeWarning) for one in found):
            return found
    return (NativeWarning(WarningCode.OTHER, text=_one_line(text)),) if text.strip() else ()


def _without(printed: str, logged: Sequence[str]) -> str:
    """Lines that a logger wrote are read as it got them."""
    lines = {line.strip() for text in logged for line in _words(text).splitlines()}
    known = tuple(line for line in lines if len(line) >= SHORTEST)
    return "\n".join(line for line in printed.splitlines() if not _plain(line).endswith(known))


def _plain(line: str) -> str:
    return _COLOUR.sub("", line).strip()


def _words(logged: str) -> str:
    return logged.split(":", 2)[2]


def _as_logged(text: str) -> NativeWarning:
    return NativeWarning(WarningCode.OTHER, text=_one_line(_words(text)))


def _as_python_prints(one: warnings.WarningMessage) -> str:
    if issubclass(one.category, NativeText):
        return _text(one)
    name = type_name(one.message)
    return f"{one.filename}:{one.lineno}: {name if name.endswith('Warning') else 'UserWarning'}: {_text(one)}"


def distinct(found: Iterable[NativeWarning]) -> tuple[NativeWarning, ...]:
    """Each once, bounded in number and length, as text that can be written."""
    kept = dict.fromkeys(
        NativeWarning(one.code, encodable(one.node)[:LONGEST], encodable(one.text)[:LONGEST], one.count)
        for one in found
    )
    return tuple(kept)[:MOST]


def _by_category(one: warnings.WarningMessage) -> NativeWarning:
    return _refined(NativeWarning(WarningCode.OTHER, text=_text(one)), one)


def _refined(read: NativeWarning, one: warnings.WarningMessage) -> NativeWarning:
    """What no words tell, the category may."""
    if read.code is WarningCode.OTHER and issubclass(one.category, _DEPRECATED):
        return msgspec.structs.replace(read, code=WarningCode.DEPRECATED)
    return read


def _text(one: warnings.WarningMessage) -> str:
    return _one_line(exception_text(one.message) if isinstance(one.message, Warning) else str(one.message))


def _one_line(text: str) -> str:
    return " ".join(text.split())
