"""Words for whatever was raised, also where it has none."""

from __future__ import annotations

from typing import Any

from assay.core.wire import encodable

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


def type_name(error: BaseException) -> str:
    """Of its type, which may be code of the backend, too."""
    return encodable(_NAME.__get__(type(error)))


def describe_exception(error: BaseException) -> str:
    """Its type and what it says."""
    name, text = type_name(error), exception_text(error)
    return f"{name}: {text}" if text else name
