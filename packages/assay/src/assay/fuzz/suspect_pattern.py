"""What two suspects have in common before any experiment: their operators up to what only moves values, and kinds of failure."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.screening import Use

NEUTRAL = frozenset(
    ("Identity", "Cast", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Constant", "Dropout", "Expand")
)
"""Operators that move values; where they stand beside others they are no part of a pattern."""
MOVERS = (NEUTRAL - {"Cast"}) | {"Slice", "Tile", "Concat", "Split", "Gather", "DepthToSpace", "SpaceToDepth"}
"""Those whose results are numbers of their operands in other places."""
GRID = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"))
ON_A_GRID = "grid"
ENDED = frozenset(("crash", "timeout", "out_of_memory"))
"""Kinds of failure that the process did not outlive."""
ANSWERS = frozenset(("values", "shape"))
"""Kinds of failure that one cause may have, as sizes happen to be."""
EXACT = frozenset(("shape", "type", "missing", "crash", "timeout", "out_of_memory", "failed", *Use))
"""Kinds that are never taken for one another; the rest is about values."""


def family(kind: str) -> str:
    """Kinds of failure that one cause may have."""
    first = kind.partition(" ")[0]
    return first if first in EXACT else "values"


def pattern(operators: Sequence[str]) -> tuple[str, ...]:
    """What is left of the operators of a case without those that only move values; quantizers are one word in front."""
    return tuple(dict.fromkeys(in_order(operators)))


def in_order(operators: Sequence[str]) -> tuple[str, ...]:
    """The pattern with each operator as often as it is there: two of one after the other may be merged, and one alone not."""
    names = plain(operators)
    kept = [name for name in names if name not in NEUTRAL and name not in GRID]
    kept = kept or [name for name in names if name not in GRID]
    return (*([ON_A_GRID] if GRID & {*names} else []), *kept)


def plain(operators: Sequence[str]) -> tuple[str, ...]:
    """Without the opsets in which they changed."""
    return tuple(operator.partition("@")[0] for operator in operators)


def replaced(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, str] | None:
    """The two operators in which these patterns of several differ, where all others are the same and at the same places."""
    pairs = [pair for pair in zip(plain(mine), plain(theirs), strict=False) if pair[0] != pair[1]]
    return pairs[0] if len(pairs) == 1 and len(mine) == len(theirs) > 1 else None
