"""A sentence as a part of a longer one."""

from __future__ import annotations

import re

_FULL_STOP = re.compile(r"(?<!\.)\.\Z")


def as_clause(sentence: str) -> str:
    """Without the full stop at its end; dots that say that there is more stay."""
    return _FULL_STOP.sub("", sentence)
