"""Words for whatever was raised, also where it has none."""

from __future__ import annotations

from typing import Any, cast

from assay.core.note import Note, NoteCode, noted
from assay.core.wire import encodable
from assay.errors import AssayError

_NAME: Any = type.__dict__["__name__"]
LONGEST = 2000
"""Characters that are looked at of what an exception says of itself."""


def exception_text(error: BaseException) -> str:
    """What it says of itself on one line; "" where it says nothing, or cannot."""
    for words in (str, repr):
        try:
            text = words(error)
        except BaseException:  # noqa: BLE001  it is code of the backend
            continue
        return " ".join(encodable(text[:LONGEST]).split())
    return ""


def reason_of(error: BaseException) -> Note:
    """Why it was raised: the note that it carries, or its words."""
    note = cast(AssayError, error).note if issubclass(type(error), AssayError) else None
    return noted(NoteCode.REFUSED, error=exception_text(error) or type_name(error)) if note is None else note


def type_name(thing: object) -> str:
    """Of its type, which may be code of the backend, too."""
    return encodable(_NAME.__get__(type(thing)))


def describe_exception(error: BaseException) -> str:
    """Its type and what it says."""
    name, text = type_name(error), exception_text(error)
    return f"{name}: {text}" if text else name
