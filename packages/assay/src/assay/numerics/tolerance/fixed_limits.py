"""An output by fixed limits, from what was recorded of it: the same whenever it is asked, in the run or years later."""

from __future__ import annotations

import math

from msgspec.structs import replace

from assay.core.comparison import Comparison, Evidence
from assay.core.finding import Finding, FindingCode, WorstElement, facts


def by_limits(comparison: Comparison, rtol: float, atol: float) -> Comparison:
    """With the metrics, the findings and the worst elements that `|actual - expected| <= atol + rtol * |expected|` makes of it. An output
    without evidence, or whose limits are the same for every choice, stays as it is."""
    evidence = comparison.evidence
    if evidence is None:
        return comparison
    if not evidence.compared:
        return replace(
            comparison,
            findings=evidence.findings,
            metrics={},
            rtol=0.0,
            atol=0.0,
            degenerate=evidence.degenerate,
            worst=(),
        )
    used, outside = _used(evidence, rtol, atol), outside_of(evidence, rtol, atol)
    figures = {**comparison.metrics, **evidence.metrics}
    own = {name: value for name, value in figures.items() if not is_of_tolerance(name)}
    counted = {}
    if comparison.elements and outside is not None:
        counted["share_out_of_tolerance"] = (outside + evidence.clashing) / comparison.elements
    total = used if evidence.budget is None else max(used, evidence.budget)
    worst = (
        _worst_first((*evidence.corners, *comparison.worst), rtol, atol)
        if evidence.budget is None or evidence.clashing
        else comparison.worst
    )
    beyond = () if not used > 1.0 else (_beyond(comparison, rtol, atol, outside, worst[0]),)
    return replace(
        comparison,
        findings=(*evidence.findings, *beyond),
        metrics={**counted, "budget_used": total, **own} if comparison.elements or evidence.budget is not None else own,
        rtol=rtol,
        atol=atol,
        degenerate=evidence.degenerate or tolerates_zeros(comparison.output, evidence.peak, rtol, atol),
        worst=worst,
    )


def with_figures_of(comparison: Comparison) -> Evidence | None:
    """Its evidence, with its own metrics: for a comparison that replaces it and has others."""
    own = {name: value for name, value in comparison.metrics.items() if not is_of_tolerance(name)}
    return comparison.evidence and replace(comparison.evidence, metrics=own)


def is_of_tolerance(name: str) -> bool:
    """Whether a metric says how much of a tolerance is used: another choice has its own."""
    return name.startswith("budget_") or name in ("share_out_of_tolerance", "noise_share", "ties", "coarse_tolerance")


def outside_of(evidence: Evidence, rtol: float, atol: float) -> int | None:
    """How many elements are beyond the limits; None where nobody counted."""
    for count in evidence.counts:
        if count.rtol == rtol and count.atol == atol:
            return count.outside
    known = evidence.budget is None and _used(evidence, rtol, atol) <= 1.0
    return 0 if known else None


def _used(evidence: Evidence, rtol: float, atol: float) -> float:
    worst = max((share_of_limit(corner, rtol, atol) for corner in evidence.corners), default=0.0)
    return worst * (1.0 + evidence.slack)


def share_of_limit(element: WorstElement, rtol: float, atol: float) -> float:
    """The share of its allowance that an element takes: 0 where there is no error, infinity where none is allowed."""
    size, error, allowed = abs(element.expected), abs(element.actual - element.expected), atol
    if math.isinf(error) and math.isfinite(element.actual) and math.isfinite(element.expected):
        size, error, allowed = size / 4, abs(element.actual / 4 - element.expected / 4), atol / 4
    allowed += size * rtol
    if error == 0.0:
        return 0.0
    return error / allowed if allowed > 0.0 else math.inf


def _worst_first(elements: tuple[WorstElement, ...], rtol: float, atol: float) -> tuple[WorstElement, ...]:
    """Of those that use the same share the first given."""
    shares = {worst_element: share_of_limit(worst_element, rtol, atol) for worst_element in dict.fromkeys(elements)}
    numbers = [
        worst_element
        for worst_element in shares
        if math.isfinite(worst_element.actual) and math.isfinite(worst_element.expected) and shares[worst_element] > 0.0
    ]
    return tuple(sorted(numbers, key=lambda number: -shares[number])[:10])


def _beyond(comparison: Comparison, rtol: float, atol: float, outside: int | None, worst: WorstElement) -> Finding:
    limits = facts(rtol=rtol, atol=atol)
    if outside is None:
        return Finding("values", comparison.output, FindingCode.BEYOND_LIMITS, limits, (worst,))
    counted = facts(outside=outside, elements=comparison.elements)
    return Finding("values", comparison.output, FindingCode.SOME_BEYOND_LIMITS, counted | limits, (worst,))


def tolerates_zeros(output: str, peak: float, rtol: float, atol: float) -> Finding | None:
    """That zeros would pass for a reference of at most `peak`, where the allowed error swallows the signal."""
    if not peak or peak > rtol * peak + atol:
        return None
    return Finding("degenerate", output, FindingCode.ZEROS_WOULD_PASS, facts(rtol=rtol, atol=atol, peak=peak))
