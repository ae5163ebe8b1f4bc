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
_OWN = tuple(f"{Path(place)}/" for place in assay.__path__)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_BETWEEN = re.compile(r"[\s:|]+")
_STAMP = re.compile(r"[A-Z]?\d[\d.,/TZ+-]*|\S+\.py")
"""A time, a number of a process or line, or the file of a record."""
_LEVELS = {"W", "WARN", "WARNING", "E", "ERROR", "C", "CRITICAL", "F", "FATAL"}
_DEPRECATED = (DeprecationWarning, PendingDeprecationWarning, FutureWarning)


def is_native(message: warnings.WarningMessage) -> bool:
    """Whether a library said it; what Assay itself notes of a job is given from a file of its own."""
    if issubclass(message.category, NoteWarning):
        return False
    return issubclass(message.category, NativeText) or not message.filename.startswith(_OWN)


def parted(
    caught: Iterable[warnings.WarningMessage],
) -> tuple[list[warnings.WarningMessage], list[warnings.WarningMessage]]:
    """What libraries said, and what Assay itself noted: each is looked at once, as a library may warn in every call."""
    library: list[warnings.WarningMessage] = []
    own: list[warnings.WarningMessage] = []
    for warning_message in caught:
        (library if is_native(warning_message) else own).append(warning_message)
    return library, own


def note_of(message: warnings.WarningMessage) -> Note:
    """What is noted of it: words of a library are noted as such."""
    if issubclass(message.category, NoteWarning):
        return cast(NoteWarning, message.message).note
    text = exception_text(message.message) if isinstance(message.message, Warning) else str(message.message).strip()
    return noted(NoteCode.LIBRARY_SAID, text=text)


def bounded(note: Note) -> Note:
    """With texts of others cut, as text that can be written."""
    return Note(note.code, {name: _bounded(fact) for name, fact in note.facts.items()})


def _bounded(fact: Fact | Note) -> Fact | Note:
    if isinstance(fact, Note):
        return bounded(fact)
    if isinstance(fact, tuple):
        return tuple(encodable(part)[:LONGEST] if isinstance(part, str) else part for part in fact)
    return encodable(fact)[:LONGEST] if isinstance(fact, str) else fact


def read_warnings(
    backend: Backend | None, printed: Sequence[str], logged: Sequence[str], caught: Iterable[warnings.WarningMessage]
) -> tuple[NativeWarning, ...]:
    """Each once, in the order given. What is printed means something only to a backend that reads it. What Python's loggers and
    `warnings` gave goes to it as Python itself prints it, a line each; what nobody reads has the code of its category, or is `other`."""
    reader: ReadsWarnings | None = backend if isinstance(backend, ReadsWarnings) else None
    if reader is None:
        return distinct([*map(_as_logged, logged), *map(_by_category, caught)])
    native_warnings: list[NativeWarning] = []
    for text in printed:
        rest = _without(text, logged)
        native_warnings += _read_by(reader, rest, _other(rest)) if rest.strip() else ()
    for text in logged:
        native_warnings += _read_by(reader, _one_line(text), _as_logged(text)) or [_as_logged(text)]
    for warning_message in caught:
        read = _read_by(reader, _as_python_prints(warning_message), _by_category(warning_message)) or [
            _by_category(warning_message)
        ]
        native_warnings += [_refined(part, warning_message) for part in read]
    return distinct(native_warnings)


def _read_by(reader: ReadsWarnings, text: str, unread: NativeWarning) -> list[NativeWarning]:
    """`unread` where a plug-in fails on the text: it costs no answer, and no warning is lost."""
    with suppress(Exception):  # a plug-in's reader of free text
        native_warnings = list(reader.read_warnings(text))
        if all(
            isinstance(native_warning, NativeWarning) and native_warning.count >= 0
            for native_warning in native_warnings
        ):
            return native_warnings
    return [unread]


def _without(printed: str, logged: Sequence[str]) -> str:
    """Lines that a logger wrote are read as it got them."""
    known = {(name, line.strip()) for text in logged for name, words in [_split(text)] for line in words.splitlines()}
    ends = tuple(words for _, words in known if words)
    return "\n".join(
        line for line in printed.splitlines() if not (_plain(line).endswith(ends) and _is_logged(_plain(line), known))
    )


def _plain(line: str) -> str:
    return _COLOUR.sub("", line).strip()


def _is_logged(line: str, known: Iterable[tuple[str, str]]) -> bool:
    """Whether all that stands before the words is what a logger writes there: its name, the level, the time, and where it was."""
    return any(
        all(
            core in ("", name) or core.upper() in _LEVELS or _STAMP.fullmatch(core)
            for token in _BETWEEN.split(line.removesuffix(words))
            for core in [re.sub(r"^\W+|\W+$", "", token)]
        )
        for name, words in known
        if words and line.endswith(words)
    )


def _split(logged: str) -> tuple[str, str]:
    _, name, words = logged.split(":", 2)
    return name, words


def _as_logged(text: str) -> NativeWarning:
    return _other(_split(text)[1])


def _other(text: str) -> NativeWarning:
    return NativeWarning(WarningCode.OTHER, text=_one_line(text))


def _as_python_prints(message: warnings.WarningMessage) -> str:
    if issubclass(message.category, NativeText):
        return _text(message)
    name = type_name(message.message)
    return (
        f"{message.filename}:{message.lineno}: {name if name.endswith('Warning') else 'UserWarning'}: {_text(message)}"
    )


def distinct(native_warnings: Iterable[NativeWarning]) -> tuple[NativeWarning, ...]:
    """Each once, bounded in number and length, as text that can be written; without those that say nothing of the model."""
    kept = dict.fromkeys(
        NativeWarning(
            native_warning.code,
            encodable(native_warning.node)[:LONGEST],
            encodable(native_warning.text)[:LONGEST],
            native_warning.count,
        )
        for native_warning in native_warnings
        if native_warning.count
    )
    return tuple(kept)[:MOST]


def _by_category(message: warnings.WarningMessage) -> NativeWarning:
    return _refined(_other(_text(message)), message)


def _refined(read: NativeWarning, message: warnings.WarningMessage) -> NativeWarning:
    """What no words tell, the category may."""
    if read.code is WarningCode.OTHER and issubclass(message.category, _DEPRECATED):
        return msgspec.structs.replace(read, code=WarningCode.DEPRECATED)
    return read


def _text(message: warnings.WarningMessage) -> str:
    return _one_line(exception_text(message.message) if isinstance(message.message, Warning) else str(message.message))


def _one_line(text: str) -> str:
    return " ".join(text.split())
