"""Which comparisons carry an answer, and which of the others keep it from being one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.core.comparison import Comparison
from assay.core.dtype import is_floating

_FEWEST_NUMBERS, _FEWEST_WHOLE = 2, 16
"""Elements of an output that prove something by themselves: a count or a flag is right by chance."""


def carries(one: Comparison) -> bool:
    """Whether this output would have shown a wrong engine."""
    fewest = _FEWEST_NUMBERS if is_floating(one.dtype) else _FEWEST_WHOLE
    return not one.degenerate and not one.findings and one.dtype != "string" and one.elements >= fewest


def blocking(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Those that prove nothing and leave the answer open: all that are `degenerate`, but for outputs (or sizes) whose reference has
    nothing to tell, where others carry the answer."""
    carried = any(map(carries, comparisons))
    return tuple(one for one in comparisons if one.degenerate and not (carried and one.uninformative))


def passed_over(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """What the answer does not rest on, in a sentence for each."""
    kept = set(map(id, blocking(comparisons)))
    carriers = ", ".join(dict.fromkeys(f"'{one.output}'" for one in comparisons if carries(one)))
    for one in comparisons:
        at = f" at {one.at}" if one.at else ""
        if one.degenerate and id(one) not in kept:
            yield f"output '{one.output}'{at}: {one.degenerate}: it was compared, and proves nothing; the answer rests on {carriers}"
        elif not one.degenerate and (share := one.share_at_bounds):
            yield (
                f"output '{one.output}'{at}: {100 * share:.3g} % of the reference are at the bounds of {one.dtype}: there any larger value "
                "would have passed; the answer rests on the other elements"
            )
