"""A sentence as a part of a longer one."""

from __future__ import annotations


def as_clause(sentence: str) -> str:
    """Without the full stop at its end; dots that say that there is more stay."""
    clause = sentence.removesuffix(".")
    return sentence if clause.endswith(".") else clause
