"""What remains of a comparison where the numbers of an output are drawn at random: its type, and its shape where that is not drawn, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from assay.core.comparison import Comparison, Evidence
from assay.core.finding import Finding, FindingCode, facts
from assay.core.tensor_parts import whole_name
from assay.numerics.draw import NOTHING, Draw
from assay.ports import Tensor

_OF_NUMBERS = frozenset({"values", "nan", "infinity", "lowest_for_infinity", "degenerate"})
"""Kinds of findings that other numbers explain."""
Drawn = Mapping[str, Draw]
"""By the names of outputs; those of a sequence and its like share one."""
Samples = Sequence[Mapping[str, Tensor]]


def drawn_parts(names: Iterable[str], drawn: Drawn) -> frozenset[str]:
    """Which of these tensors hold drawn numbers."""
    return frozenset(name for name in names if _draw_of(name, drawn))


def without_numbers(
    comparisons: tuple[Comparison, ...],
    findings: Iterable[Finding],
    drawn: Drawn,
    actual: Samples,
    expected: Samples,
) -> tuple[tuple[Comparison, ...], list[Finding]]:
    """Nothing is said of drawn numbers but that they are drawn: such an output proves nothing, and is no doubt about the others."""
    explained: dict[str, frozenset[str]] = {}
    for one in comparisons:
        if draw := _draw_of(one.output, drawn):
            loose = draw.sizes and _is_of_one_rank(one.output, actual, expected)
            explained[one.output] = _OF_NUMBERS | {"shape"} if loose else _OF_NUMBERS
    left = tuple(
        _uncompared(one, _draw_of(one.output, drawn), explained[one.output]) if one.output in explained else one
        for one in comparisons
    )
    return left, [one for one in findings if one.kind not in explained.get(one.output, ())]


def _draw_of(name: str, drawn: Drawn) -> Draw:
    """Of a tensor; how many parts its output has is a question of sizes."""
    draw = drawn.get(name) or drawn.get(whole_name(name), NOTHING)
    return NOTHING if name.endswith(("[]", "?")) and not draw.sizes else draw


def _is_of_one_rank(name: str, actual: Samples, expected: Samples) -> bool:
    pairs = zip(actual, expected, strict=False)
    return all(name in mine and name in theirs and mine[name].ndim == theirs[name].ndim for mine, theirs in pairs)


def _uncompared(one: Comparison, draw: Draw, explained: frozenset[str]) -> Comparison:
    code = FindingCode.RANDOM_SIZES if draw.sizes else FindingCode.RANDOM
    why = Finding("degenerate", one.output, code, facts(margin=draw.numbers))
    kept = tuple(finding for finding in one.findings if finding.kind not in explained)
    return msgspec.structs.replace(
        one,
        findings=kept,
        metrics={},
        degenerate=why,
        uninformative=True,
        worst=(),
        error_histogram=None,
        ulp_histogram=None,
        share_at_bounds=0.0,
        evidence=Evidence(kept, why, compared=False),
    )
