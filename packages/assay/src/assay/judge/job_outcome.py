"""What the answers of one job are worth: a pure function of what the worker observed, and of what the job promised.

A worker says how a job ended (an error, nothing delegated, or that all went well) and records comparisons and findings. Nondeterministic,
mismatch, mistrusted and other precision are said here, the same way while a run is under way and years later.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.comparison import Comparison
from assay.core.evidence import blocking
from assay.core.finding import Finding, FindingCode
from assay.core.job import AnsweredJob
from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import (
    ChangeResult,
    MeasureResult,
    PerNodeResult,
    Result,
    VerifyResult,
)
from assay.core.result_parts import ComparedResult
from assay.judge.finer_precision import find_higher_precision
from assay.judge.words.clause import as_clause
from assay.judge.words.finding_text import finding_text, summary_text
from assay.judge.words.note_text import note_text
from assay.judge.words.repeats_text import instability

_ENDED = (Outcome.OK, Outcome.UNDELEGATED, Outcome.NONDETERMINISTIC)
"""How a job ends whose answers can be judged."""
_SPEAK_OF_OTHERS = (FindingCode.BODY_DISAGREES, FindingCode.WRONG_BEFORE_USE, FindingCode.SCHEDULES_DISAGREE)
Said = tuple[Outcome, str, Cause]
"""An outcome, why in words, and its cause."""
R = TypeVar("R", bound=Result)


def with_outcome(result: Result, job: Job) -> Result:
    """The result with the outcome that its answers earn, and why. One that has an outcome of the judge's stays as it is."""
    if result.observed is not None:
        return result
    outcome, detail, cause = _outcome(result, job)
    if (outcome, detail) == (result.outcome, result.detail):
        return result
    if isinstance(result, ChangeResult) and outcome is Outcome.MISTRUSTED:
        result = replace(result, comparisons=(), findings=())
    observed, reason = result.outcome, result.detail
    return replace(result, outcome=outcome, detail=detail, cause=cause, observed=observed, observed_detail=reason)


def as_observed(result: R) -> R:
    """The result as the worker gave it."""
    if result.observed is None:
        return result
    cause = Cause.NONE if result.cause is Cause.NO_REFERENCE else result.cause
    return replace(
        result, outcome=result.observed, detail=result.observed_detail, cause=cause, observed=None, observed_detail=""
    )


def findings_of(result: ComparedResult) -> list[Finding]:
    """Of the job and of its outputs."""
    return [*result.findings, *(finding for comparison in result.comparisons for finding in comparison.findings)]


def _outcome(result: Result, job: Job) -> Said:
    untouched = result.outcome, result.detail, result.cause
    if result.outcome is Outcome.ERROR and result.stage in (Stage.RUN, Stage.MEASURE) and _unanswered(job):
        # What nobody takes is no fault of this engine.
        return Outcome.MISTRUSTED, f"{_unanswered(job)}; nor does this engine: {result.detail}", Cause.NO_REFERENCE
    if result.outcome not in _ENDED:
        return untouched
    match result:
        case MeasureResult() if result.outcome is Outcome.OK and isinstance(job, FlowJob):
            return _finer(result, job, ()) or untouched
        case ChangeResult():
            return _of_change(result) or untouched
        case VerifyResult() if unstable := instability(result):
            return Outcome.NONDETERMINISTIC, unstable, result.cause
        case PerNodeResult() | VerifyResult() if findings := findings_of(result):
            return Outcome.MISMATCH, _seen(result, job, findings), result.cause
        case PerNodeResult() if result.summary is not None:
            judged = any(error.budget_used is not None for error in result.node_errors)
            outcome = result.outcome if judged else Outcome.MISTRUSTED
            return outcome, summary_text(result.summary), result.cause
        case VerifyResult() if result.outcome is Outcome.OK and isinstance(job, FlowJob) and _is_plain(job.case):
            return _without_findings(result, job) or untouched
    return untouched


def _is_plain(case: Case) -> bool:
    """Neither a wrong use nor the body of a function."""
    return case.misuse is None and case.body is None


def _seen(result: PerNodeResult | VerifyResult, job: Job, findings: list[Finding]) -> str:
    """What is wrong: what was seen of all nodes, or the finding that speaks of the others, or the first of them."""
    if isinstance(result, PerNodeResult) and result.summary is not None:
        return summary_text(result.summary)
    if (whole := next((finding for finding in findings if finding.code in _SPEAK_OF_OTHERS), None)) is not None:
        return finding_text(whole)
    more = (
        f" (and {len(findings) - 1} more finding{'s' if len(findings) > 2 else ''})"
        if len(findings) > 1 and job.case.misuse is None
        else ""
    )
    text = _without_known_figures(findings[0], result)
    return as_clause(text) + more if more else text


def _without_known_figures(finding: Finding, result: ComparedResult) -> str:
    """What the verdict says of an output by the budget that its comparison used is not said again."""
    judged = any(
        comparison.output == finding.output and "budget_used" in comparison.metrics for comparison in result.comparisons
    )
    return finding_text(finding, figures=not judged)


def _of_change(result: ChangeResult) -> Said | None:
    if not (findings := findings_of(result)):
        return None
    if result.unproven is not None:
        return Outcome.MISTRUSTED, note_text(result.unproven), result.cause
    return Outcome.MISMATCH, _without_known_figures(findings[0], result), result.cause


def _without_findings(result: VerifyResult, job: FlowJob) -> Said | None:
    """None where the worker's word stands."""
    if result.unproven is not None:
        return Outcome.MISTRUSTED, note_text(result.unproven), Cause.NO_REFERENCE
    for comparison in blocking(result.comparisons):
        why = finding_text(comparison.degenerate)
        return Outcome.MISTRUSTED, f"output '{comparison.output}': {why}; such a pass proves nothing", result.cause
    return _finer(result, job, _nearness(result))


def _finer(result: MeasureResult | VerifyResult, job: FlowJob, comparisons: tuple[Comparison, ...]) -> Said | None:
    finer = find_higher_precision(job.flow.precision, result.facts, comparisons)
    return (Outcome.OTHER_PRECISION, finer, result.cause) if finer else None


def _nearness(result: VerifyResult) -> tuple[Comparison, ...]:
    """What tells how near the answers come: of a model that transforms have quantized those against the float model."""
    quantized = any(
        comparison.evidence is not None and comparison.evidence.by_default and not comparison.at
        for comparison in result.comparisons
    )
    return result.against_float if quantized else result.comparisons


def _unanswered(job: Job) -> str:
    """Why nobody has answers to compare with; "" where somebody has, or nobody is asked."""
    return job.no_reference_reason if isinstance(job, AnsweredJob) else ""
