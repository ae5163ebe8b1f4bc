"""A comparison with what a tolerance says of its output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from assay.core.comparison import Comparison, Evidence, OutsideCount
from assay.core.finding import Finding, FindingCode, facts
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.numerics.tolerance.tolerance_tables import ONNX, TORCH, share_out
from assay.ports import Tensor

ROWS = ("shape", "values", "degenerate")
"""What is found where there are other rows, or as many in another order."""
Samples = Sequence[Mapping[str, Tensor]]


def beyond_a_guess(comparison: Comparison) -> Comparison:
    """What a guess does not explain, and no more than that."""
    used = facts(used=comparison.metrics.get("budget_used", 0.0))
    return _mistrusted(
        comparison, Finding("degenerate", comparison.output, FindingCode.BEYOND_A_GUESS, used), ("values",)
    )


def beyond_the_others(comparison: Comparison, used: float, known: int, samples: int) -> Comparison:
    """Samples without a tolerance of their own, where jumps may carry one further than another."""
    numbers = facts(used=used, known=known, samples=samples)
    return _mistrusted(
        comparison, Finding("degenerate", comparison.output, FindingCode.BEYOND_THE_OTHERS, numbers), ("values",)
    )


def by_default(comparison: Comparison) -> Comparison:
    evidence = comparison.evidence and msgspec.structs.replace(comparison.evidence, by_default=True)
    return msgspec.structs.replace(comparison, evidence=evidence)


def by_coarse(comparison: Comparison) -> Comparison:
    """With a metric that says what its budget is of."""
    metrics = comparison.metrics and {**comparison.metrics, "coarse_tolerance": 1.0}
    return msgspec.structs.replace(comparison, metrics=metrics)


def open_golden(output_judgement: OutputJudgement) -> OutputJudgement:
    """A golden of single precision may lie beyond a coarse tolerance, and be sound."""
    return replace(
        output_judgement, degenerate=Finding("degenerate", output_judgement.output, FindingCode.COARSE_GOLDEN)
    )


def other_rows(comparison: Comparison, first: tuple[int, ...], second: tuple[int, ...]) -> Comparison:
    shapes = facts(first_shape=first, second_shape=second)
    return _mistrusted(comparison, Finding("degenerate", comparison.output, FindingCode.OTHER_ROWS, shapes), ROWS)


def other_whole_numbers(comparison: Comparison, precision: str) -> Comparison:
    decided = Finding("degenerate", comparison.output, FindingCode.OTHER_WHOLE_NUMBERS, facts(precision=precision))
    return _mistrusted(comparison, decided, ("values",))


def _mistrusted(comparison: Comparison, why: Finding, kinds: tuple[str, ...]) -> Comparison:
    """At its limit, and without findings of these kinds."""
    return msgspec.structs.replace(
        comparison,
        findings=tuple(finding for finding in comparison.findings if finding.kind not in kinds),
        metrics={**comparison.metrics, "budget_used": 1.0},
        degenerate=why,
    )


def with_judgement(comparison: Comparison, judged: OutputJudgement | None, *, decides: bool) -> Comparison:
    """Metrics always; findings and limits only where the profile `decides`."""
    if judged is None or not judged.metrics or comparison.at:
        return comparison
    if not decides:
        kept = {name: value for name, value in judged.metrics.items() if name != "budget_used"}
        return msgspec.structs.replace(comparison, metrics={**comparison.metrics, **kept})
    poor = comparison.evidence.degenerate if comparison.evidence is not None else comparison.degenerate
    other = [finding for finding in comparison.findings if finding.kind != "values"]
    used = judged.metrics["budget_used"]
    clashes = any(finding.kind in ("nan", "infinity", "lowest_for_infinity") for finding in other)
    share = judged.statistics.out / max(1, judged.statistics.elements) if judged.statistics else float(used > 1)
    metrics = {**comparison.metrics, **judged.metrics, "share_out_of_tolerance": share}
    if clashes:
        metrics["budget_used"] = comparison.metrics.get("budget_used", used)
    return msgspec.structs.replace(
        comparison,
        findings=(*other, *judged.findings),
        metrics=metrics,
        rtol=0.0,
        atol=judged.allowed,
        degenerate=poor or judged.degenerate,
        worst=judged.worst or comparison.worst,
    )


def with_rest(comparison: Comparison, rest: Comparison | None) -> Comparison:
    """The worse of the two budgets, and what the other samples were found to be."""
    if rest is None or "budget_used" not in rest.metrics or "budget_used" not in comparison.metrics:
        return comparison
    used = max(comparison.metrics["budget_used"], rest.metrics["budget_used"])
    findings = tuple(finding for finding in rest.findings if finding.kind == "values")
    return msgspec.structs.replace(
        comparison, metrics={**comparison.metrics, "budget_used": used}, findings=(*comparison.findings, *findings)
    )


def with_tables(comparison: Comparison, actual: Samples, expected: Samples) -> Comparison:
    """The share of elements that torch's and ONNX's tolerances would have failed."""
    if comparison.at or not comparison.metrics:
        return comparison
    pairs = [
        (mine[comparison.output], theirs[comparison.output])
        for mine, theirs in zip(actual, expected, strict=False)
        if comparison.output in mine and comparison.output in theirs
    ]
    shares = share_out(pairs, comparison.dtype)
    if not shares:
        return comparison
    evidence = comparison.evidence and _with_counts(comparison.evidence, shares, comparison)
    return msgspec.structs.replace(comparison, metrics={**comparison.metrics, **shares}, evidence=evidence)


def _with_counts(evidence: Evidence, shares: Mapping[str, float], comparison: Comparison) -> Evidence:
    """What the tables leave outside, beside NaN and infinities."""
    limits = {"share_out_of_torch": TORCH.get(comparison.dtype, TORCH["float32"]), "share_out_of_onnx": ONNX}
    counts = tuple(
        OutsideCount(*limits[name], round(share * comparison.elements) - evidence.clashing)
        for name, share in shares.items()
    )
    return msgspec.structs.replace(evidence, counts=(*evidence.counts, *counts))
