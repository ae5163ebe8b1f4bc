"""The name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The most similar of the known names, letter case aside; "" where none is near."""
    by_case: dict[str, str] = {}
    for known_name in known:
        by_case.setdefault(known_name.lower(), known_name)
    near = difflib.get_close_matches(name.lower(), by_case, n=1, cutoff=cutoff)
    return by_case[near[0]] if near else ""
