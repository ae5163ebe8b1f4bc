"""A sentence as a part of a longer one."""

from __future__ import annotations


def as_clause(sentence: str) -> str:
    """Without the full stop at its end; dots that say that there is more stay."""
    return sentence if sentence.endswith("...") else sentence.removesuffix(".")
