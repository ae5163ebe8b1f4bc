"""The names of the tensors that stand for a sequence, an optional or a map: `x[]`, `x[1]`, `x?`, `x{keys}`."""

from __future__ import annotations

import re

_MARK = re.compile(r"(\?|\[\d*\]|\{keys\}|\{values\})$")


def whole_name(part: str) -> str:
    """The value that a tensor is a part of: `x` for `x[1][]`, and for `x` itself."""
    while match := _MARK.search(part):
        part = part[: match.start()]
    return part
