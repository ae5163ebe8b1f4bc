"""Words for whatever was raised, also where it has none."""

from __future__ import annotations

from assay.core.wire import encodable

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


def describe_exception(error: BaseException) -> str:
    """Its type and what it says."""
    name, text = encodable(type(error).__name__), exception_text(error)
    return f"{name}: {text}" if text else name
