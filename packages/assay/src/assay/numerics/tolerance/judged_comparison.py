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


def beyond_a_guess(one: Comparison) -> Comparison:
    """What a guess does not explain, and no more than that."""
    used = facts(used=one.metrics.get("budget_used", 0.0))
    return _mistrusted(one, Finding("degenerate", one.output, FindingCode.BEYOND_A_GUESS, used), ("values",))


def beyond_the_others(one: Comparison, used: float, known: int, samples: int) -> Comparison:
    """Samples without a tolerance of their own, where jumps may carry one further than another."""
    seen = facts(used=used, known=known, samples=samples)
    return _mistrusted(one, Finding("degenerate", one.output, FindingCode.BEYOND_THE_OTHERS, seen), ("values",))


def by_default(one: Comparison) -> Comparison:
    evidence = one.evidence and msgspec.structs.replace(one.evidence, by_default=True)
    return msgspec.structs.replace(one, evidence=evidence)


def by_coarse(one: Comparison) -> Comparison:
    """With a metric that says what its budget is of."""
    return msgspec.structs.replace(one, metrics={**one.metrics, "coarse_tolerance": 1.0}) if one.metrics else one


def open_golden(one: OutputJudgement) -> OutputJudgement:
    """A golden of single precision may lie beyond a coarse tolerance, and be sound."""
    return replace(one, degenerate=Finding("degenerate", one.output, FindingCode.COARSE_GOLDEN))


def other_rows(one: Comparison, first: tuple[int, ...], second: tuple[int, ...]) -> Comparison:
    shapes = facts(first_shape=first, second_shape=second)
    return _mistrusted(one, Finding("degenerate", one.output, FindingCode.OTHER_ROWS, shapes), ROWS)


def other_whole_numbers(one: Comparison, precision: str) -> Comparison:
    decided = Finding("degenerate", one.output, FindingCode.OTHER_WHOLE_NUMBERS, facts(precision=precision))
    return _mistrusted(one, decided, ("values",))


def _mistrusted(one: Comparison, why: Finding, kinds: tuple[str, ...]) -> Comparison:
    """At its limit, and without findings of these kinds."""
    return msgspec.structs.replace(
        one,
        findings=tuple(finding for finding in one.findings if finding.kind not in kinds),
        metrics={**one.metrics, "budget_used": 1.0},
        degenerate=why,
    )


def with_judgement(one: Comparison, judged: OutputJudgement | None, *, decides: bool) -> Comparison:
    """Metrics always; findings and limits only where the profile `decides`."""
    if judged is None or not judged.metrics or one.at:
        return one
    if not decides:
        kept = {name: value for name, value in judged.metrics.items() if name != "budget_used"}
        return msgspec.structs.replace(one, metrics={**one.metrics, **kept})
    poor = one.evidence.degenerate if one.evidence is not None else one.degenerate
    other = [finding for finding in one.findings if finding.kind != "values"]
    used = judged.metrics["budget_used"]
    clashes = any(finding.kind in ("nan", "infinity", "lowest_for_infinity") for finding in other)
    share = judged.statistics.out / max(1, judged.statistics.elements) if judged.statistics else float(used > 1)
    metrics = {**one.metrics, **judged.metrics, "share_out_of_tolerance": share}
    if clashes:
        metrics["budget_used"] = one.metrics.get("budget_used", used)
    return msgspec.structs.replace(
        one,
        findings=(*other, *judged.findings),
        metrics=metrics,
        rtol=0.0,
        atol=judged.allowed,
        degenerate=poor or judged.degenerate,
        worst=judged.worst or one.worst,
    )


def with_rest(one: Comparison, rest: Comparison | None) -> Comparison:
    """The worse of the two budgets, and what the other samples were found to be."""
    if rest is None or "budget_used" not in rest.metrics or "budget_used" not in one.metrics:
        return one
    used = max(one.metrics["budget_used"], rest.metrics["budget_used"])
    found = tuple(finding for finding in rest.findings if finding.kind == "values")
    return msgspec.structs.replace(one, metrics={**one.metrics, "budget_used": used}, findings=(*one.findings, *found))


def with_tables(one: Comparison, actual: Samples, expected: Samples) -> Comparison:
    """The share of elements that torch's and ONNX's tolerances would have failed."""
    if one.at or not one.metrics:
        return one
    pairs = [
        (mine[one.output], theirs[one.output])
        for mine, theirs in zip(actual, expected, strict=False)
        if one.output in mine and one.output in theirs
    ]
    shares = share_out(pairs, one.dtype)
    if not shares:
        return one
    evidence = one.evidence and _with_counts(one.evidence, shares, one)
    return msgspec.structs.replace(one, metrics={**one.metrics, **shares}, evidence=evidence)


def _with_counts(evidence: Evidence, shares: Mapping[str, float], one: Comparison) -> Evidence:
    """What the tables leave outside, beside NaN and infinities."""
    limits = {"share_out_of_torch": TORCH.get(one.dtype, TORCH["float32"]), "share_out_of_onnx": ONNX}
    counts = tuple(
        OutsideCount(*limits[name], round(share * one.elements) - evidence.clashing) for name, share in shares.items()
    )
    return msgspec.structs.replace(evidence, counts=(*evidence.counts, *counts))
