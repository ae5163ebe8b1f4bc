"""What remains of a comparison where the numbers of an output are drawn at random: its type, and its shape where that is not drawn, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from assay.core.comparison import Comparison, Evidence
from assay.core.finding import Finding, FindingCode, facts
from assay.core.tensor_parts import whole_name
from assay.numerics.draw import NOTHING, Draw
from assay.ports import Tensor

_OF_NUMBERS = frozenset({"values", "degenerate"})
"""Kinds of findings that other numbers explain."""
_NOT_FINITE = frozenset({"nan", "infinity", "lowest_for_infinity"})
"""Kinds that they explain only where the reference draws such numbers, too."""
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
    """Nothing is said of drawn numbers but that they are drawn, and that they are none: such an output leaves the answer open, since
    what is wrong before the draw shows nowhere else."""
    explained: dict[str, frozenset[str]] = {}
    for comparison in comparisons:
        if draw := _draw_of(comparison.output, drawn):
            loose = draw.sizes and _is_of_one_rank(comparison.output, actual, expected)
            kinds = _OF_NUMBERS if _is_finite(comparison.output, expected) else _OF_NUMBERS | _NOT_FINITE
            explained[comparison.output] = kinds | {"shape"} if loose else kinds
    left = tuple(
        _uncompared(comparison, _draw_of(comparison.output, drawn), explained[comparison.output])
        if comparison.output in explained
        else comparison
        for comparison in comparisons
    )
    return left, [finding for finding in findings if finding.kind not in explained.get(finding.output, ())]


def _draw_of(name: str, drawn: Drawn) -> Draw:
    """Of a tensor; how many parts its output has is a question of sizes."""
    draw = drawn.get(name) or drawn.get(whole_name(name), NOTHING)
    return NOTHING if name.endswith(("[]", "?")) and not draw.sizes else draw


def _is_of_one_rank(name: str, actual: Samples, expected: Samples) -> bool:
    pairs = zip(actual, expected, strict=False)
    return all(name in mine and name in theirs and mine[name].ndim == theirs[name].ndim for mine, theirs in pairs)


def _is_finite(name: str, expected: Samples) -> bool:
    arrays = [np.asarray(sample[name]) for sample in expected if name in sample]
    return all(bool(np.isfinite(_known(array)).all()) for array in arrays if array.dtype.kind not in "OUSbiu")


def _known(array: Tensor) -> Tensor:
    """In a type that numpy knows."""
    return array if array.dtype.kind in "fc" else array.astype(np.float64)


def _uncompared(comparison: Comparison, draw: Draw, explained: frozenset[str]) -> Comparison:
    code = FindingCode.RANDOM_SIZES if draw.sizes else FindingCode.RANDOM
    why = Finding("degenerate", comparison.output, code, facts(margin=draw.numbers))
    kept = tuple(finding for finding in comparison.findings if finding.kind not in explained)
    return msgspec.structs.replace(
        comparison,
        findings=kept,
        metrics={},
        degenerate=why,
        uninformative=False,
        worst=(),
        error_histogram=None,
        ulp_histogram=None,
        share_at_bounds=0.0,
        evidence=Evidence(kept, why, compared=False),
    )
