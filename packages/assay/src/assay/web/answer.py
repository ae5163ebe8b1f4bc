"""What a page says, before it is a page: values for its template, the same for a program, and as rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.errors import UsageError


class NotFound(UsageError):
    """There is nothing at this address."""


class NothingToCompare(UsageError):
    """Two runs share nothing, or a run has none before it."""


@dataclass(frozen=True)
class Answer:
    """`data` is what a program gets, `header` and `rows` what is in a CSV file (empty: this page has none)."""

    template: str
    values: dict[str, Any]
    data: Any
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()


MOST_PAGES = 1_000_000


def page_number(text: str, name: str = "page", most: int = MOST_PAGES) -> int:
    """From 1 on; "" is the first. Raises UsageError."""
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and len(text) <= 7 and 1 <= int(text) <= most):
        raise UsageError(f"{name} is {text[:40]!r}; it is a whole number from 1 to {most:,}")
    return int(text)
