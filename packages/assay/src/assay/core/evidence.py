"""Which comparisons carry an answer, and which of the others keep it from being one."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.comparison import Comparison
from assay.core.dtype import is_floating
from assay.core.finding import DRAWN

_FEWEST_NUMBERS, _FEWEST_WHOLE = 2, 16
"""Elements of an output that prove something by themselves: a count or a flag is right by chance."""


def carries(comparison: Comparison) -> bool:
    """Whether this output would have shown a wrong engine."""
    fewest = _FEWEST_NUMBERS if is_floating(comparison.dtype) else _FEWEST_WHOLE
    return (
        not comparison.degenerate
        and not comparison.findings
        and comparison.dtype != "string"
        and comparison.elements >= fewest
    )


def is_drawn(comparison: Comparison) -> bool:
    """Whether its numbers are drawn at random: no limit speaks of them."""
    return comparison.degenerate is not None and comparison.degenerate.code in DRAWN


def blocking(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Those that prove nothing and leave the answer open: all that are `degenerate`, but for outputs (or sizes) whose reference has
    nothing to tell, where others carry the answer."""
    carried = any(map(carries, comparisons))
    return tuple(
        comparison for comparison in comparisons if comparison.degenerate and not (carried and comparison.uninformative)
    )
