"""What code of a submission reaches for, and whether that is certain."""

from __future__ import annotations

from typing import NamedTuple

DERIVED = "a class derived from "
"""With which words of a class begin that may answer in place of a runtime."""


class Unread(str):
    """Words for what nobody can know who only reads the code: a person looks at it."""


class Reached(NamedTuple):
    """`line` counts from 1. What is not `certain` may as well be harmless."""

    line: int
    what: str
    certain: bool = True


def reached(line: int, what: str) -> Reached:
    return Reached(line, str(what), not isinstance(what, Unread))
