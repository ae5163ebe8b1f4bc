"""The first rule: what the policy makes of the outcome of a job, before any goal."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import (
    ChangeResult,
    CompareSpeedResult,
    LoadResult,
    MeasureResult,
    PerNodeResult,
    Result,
    VerifyResult,
)
from assay.core.result_parts import ComparedResult, facts_of
from assay.core.speed import TIME_LIMIT_MESSAGE
from assay.core.verdict import VerdictStatus
from assay.judge import accuracy, changed_model, speed
from assay.judge.disputed import to_decide, unsettled, vouched
from assay.judge.doubtful_loss import unconfirmed
from assay.judge.draft_verdict import DraftVerdict, Violation, is_refusal, quantity, unless_said
from assay.judge.goal_rules import limits_loss
from assay.judge.invalid import is_invalid, to_repair
from assay.judge.load_metrics import judged_load
from assay.judge.named_metrics import metrics
from assay.judge.outcome_table import OUTCOMES, SKIPPED, outcome_words
from assay.judge.witnesses import described
from assay.judge.words import gpu_notes
from assay.judge.words.advice import CLOSE_TO_FLOAT, ConfiguredJob, advice, to_compare, to_measure
from assay.judge.words.clause import as_clause
from assay.judge.words.default_names import named

_HANGS = "an engine that hangs is found by assay check"


SAYS_WHAT_TO_DO = frozenset(
    {
        Cause.WRONG_USAGE,
        Cause.NOT_INSTALLED,
        Cause.NO_ENVIRONMENT,
        Cause.NEEDS_OPSET,
        Cause.NOT_MADE,
        Cause.NOTHING_TO_DO,
    }
)
"""Causes whose detail names the way out, or says that there is nothing to do: no advice is added."""


RUN_AGAIN = "run it again when the machine is less busy, or give it longer with --timeout"
LARGE_LOSS_DB = 10.0
"""From the float model: below it more than 31 % of the answers is error, which decibels tell nobody who never met them."""
TAKES_NOTHING = "a pass by pass-on of the policy: the backend is free to take nothing"
TOO_NEW = "take a newer backend, or convert the model: `--transform opset:N` with an N that this one takes lowers the IR version, too"


def judge_outcome(
    job_key: str, result: Result | None, policy: Policy, configured: ConfiguredJob | None = None
) -> DraftVerdict:
    """What outcome and comparison are worth under the policy. A job without a result is an error: it was lost. `configured` is the
    job itself, for commands that can be copied."""
    if result is None:
        lost = "lost: no result was recorded for this job; finish the run with `assay resume`"
        return DraftVerdict(job_key, VerdictStatus.ERROR, lost)
    blank = DraftVerdict(job_key, VerdictStatus.PASS, "", result.outcome, result)
    if isinstance(result, LoadResult):
        return judged_load(blank, result, configured.job if configured is not None else None)
    if result.outcome is Outcome.INFRASTRUCTURE:
        return replace(blank, word=VerdictStatus.ERROR, reason=_described(result))
    if why := unconfirmed(result, configured):
        return replace(blank, outcome=Outcome.MISTRUSTED, word=_status(Outcome.MISTRUSTED, policy), reason=why)
    violations = accuracy.violations(result, policy)
    if any(complaint.word is VerdictStatus.FAIL for complaint in violations):
        if why := unsettled(result):
            first = next(violation for violation in violations if violation.word is VerdictStatus.FAIL)
            reason = f"{why}; {to_decide(result, configured)}; seen: {first.text}"
            return replace(blank, word=VerdictStatus.INCONCLUSIVE, reason=reason, doubt=why)
        return _mismatch(blank, violations, policy)
    timed = isinstance(result, CompareSpeedResult) and result.stage is Stage.MEASURE
    if timed and result.outcome is Outcome.TIMEOUT:
        return replace(
            blank, word=VerdictStatus.INCONCLUSIVE, reason=f"undecided: {result.detail}; {TIME_LIMIT_MESSAGE}; {_HANGS}"
        )
    if result.cause is Cause.BUSY_MACHINE:
        return replace(
            blank, word=VerdictStatus.INCONCLUSIVE, reason=f"undecided: {as_clause(result.detail)}; {RUN_AGAIN}"
        )
    if _counted_as(result).value in policy.pass_on:
        return replace(blank, reason=f"{_described(result)}; {TAKES_NOTHING}")
    if result.outcome not in (Outcome.OK, Outcome.MISMATCH):
        word = _status(_counted_as(result), policy)
        return replace(blank, word=word, reason=_described(result, configured), doubt=as_clause(result.detail))
    if violations:
        mistrusted = replace(blank, outcome=Outcome.MISTRUSTED, word=_status(Outcome.MISTRUSTED, policy))
        why = _join(violations)
        return replace(mistrusted, reason=f"mistrusted: {why}; {advice(result, configured)}", doubt=why)
    if why := unsettled(result) if result.outcome is Outcome.OK else "":
        word, reason = _status(Outcome.MISTRUSTED, policy), f"{why}; {to_decide(result, configured)}"
        return replace(blank, outcome=Outcome.MISTRUSTED, word=word, reason=reason, doubt=why)
    return _passed(replace(blank, outcome=Outcome.OK), policy, configured)


def _mismatch(blank: DraftVerdict, violations: list[Violation], policy: Policy) -> DraftVerdict:
    """The outputs are wrong by this policy, whatever else is said of the job, unless it failed in a worse way."""
    failing = [complaint for complaint in violations if complaint.word is VerdictStatus.FAIL]
    outcome = blank.outcome if blank.outcome not in (*SKIPPED, Outcome.OK, Outcome.MISTRUSTED) else Outcome.MISMATCH
    assert outcome is not None
    reason = _join(failing)
    if outcome is not Outcome.MISMATCH and blank.result is not None:
        reason = f"{_described(blank.result)}; {reason}"
    if isinstance(blank.result, ChangeResult):
        reason = changed_model.changed(reason, blank.result.original) + vouched(blank.result)
    elif isinstance(blank.result, ComparedResult):
        reason += vouched(blank.result) or (f"; against {who}" if (who := described(blank.result.reference)) else "")
    reason += named(facts_of(blank.result)) if blank.result is not None else ""
    first = next((complaint for complaint in failing if complaint.metric), failing[0])
    return replace(
        blank,
        outcome=outcome,
        word=VerdictStatus.FAIL if {outcome.value, "mismatch"} & set(policy.fail_on) else VerdictStatus.INCONCLUSIVE,
        reason=reason,
        metric=first.metric,
        observed=first.observed,
        allowed=first.allowed,
    )


def _counted_as(result: Result) -> Outcome:
    return Outcome.UNSUPPORTED if is_refusal(result) else result.outcome


def _status(outcome: Outcome, policy: Policy) -> VerdictStatus:
    return VerdictStatus.FAIL if outcome.value in policy.fail_on else OUTCOMES[outcome].otherwise


def _described(result: Result, configured: ConfiguredJob | None = None) -> str:
    """`outcome in stage: detail; what to do`."""
    node = unless_said(result.detail, result.node, f" at node '{result.node}'")
    signal = unless_said(result.detail, result.signal, f" ({result.signal})")
    unable = "run unavailable: " if result.outcome is Outcome.LOWERED else ""
    detail = f": {unable}{as_clause(result.detail)}" if result.detail else ""
    alone = "; a fresh process did not repeat it" if result.only_after_other_jobs else ""
    # The backend's own words already hold the install command where there is one.
    outcome = _counted_as(result)
    step = advice(result, configured) if outcome is Outcome.MISTRUSTED else OUTCOMES[outcome].advice
    if result.cause is Cause.OPSET_TOO_NEW:
        step = TOO_NEW
    if domain := _foreign_domain(result, configured):
        step = f"{domain} is no domain of ONNX: export the model without it, or choose a flow that has a kernel for it"
    if is_invalid(result):
        step = to_repair(configured.job if configured else None, alone=True)
    hint = "" if result.cause in SAYS_WHAT_TO_DO else f"; {step}"
    return f"{outcome_words(outcome)} in {result.stage.value}{node}{signal}{detail}{alone}{hint}"


def _foreign_domain(result: Result, configured: ConfiguredJob | None) -> str:
    """The domain of the operator that the backend names, where that is of somebody's own; "" elsewhere."""
    if result.cause is not Cause.OPERATOR_UNSUPPORTED or configured is None:
        return ""
    foreign = (name for name in configured.job.case.model.opsets if name and name.split(".")[:2] != ["ai", "onnx"])
    return next((name for name in foreign if result.node.startswith((f"{name}:", f"{name}."))), "")


def _passed(opinion: DraftVerdict, policy: Policy, configured: ConfiguredJob | None) -> DraftVerdict:
    result = opinion.result
    assert result is not None
    after = "; crashed once after other jobs, not alone" if result.only_after_other_jobs else ""
    match result:
        case CompareSpeedResult() if result.speeds:
            return speed.judge_speed(opinion, policy)
        case ChangeResult():
            return changed_model.within(opinion, policy, configured)
        case VerifyResult() if not result.comparisons:
            nothing = f"nothing was compared: the model has no output that the reference has; {to_compare(result, configured)}"
            return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=nothing)
        case VerifyResult() | PerNodeResult() if (used := accuracy.worst_budget(result)) is not None:
            relaxed = "; recorded as mismatch, within this policy" if result.outcome is Outcome.MISMATCH else ""
            who = f" against {reference}" if (reference := described(result.reference)) else ""
            share = f"{quantity('budget_used', used)} of {policy.budget_max:.4g}"
            reason = f"budget used {share}{who}{vouched(result)}{_far(result, policy)}{relaxed}{after}"
            return replace(opinion, reason=reason, metric="budget_used", observed=used, allowed=policy.budget_max)
        case MeasureResult():
            return _measured(opinion, result, configured, after)
    return replace(opinion, reason=f"ok{after}")


def _far(result: VerifyResult | PerNodeResult, policy: Policy) -> str:
    """How far the answers are from those of the float model, or of the original, where that is another question."""
    lost = _lost_db(result)
    limited = any(limits_loss(goal, result.case, result.flow) for goal in policy.goals)
    return f"; {_loss(result, lost, limited=limited)}" if lost is not None else ""


def large_loss(result: Result | None) -> str:
    """The same where more than 31 % of the answers are error (10 dB), else "": an engine that answers as its model does passes, however far
    that model is from the one that it was made of."""
    lost = _lost_db(result)
    return _loss(result, lost) if lost is not None and lost < LARGE_LOSS_DB else ""


def _lost_db(result: Result | None) -> float | None:
    return (
        metrics(result).get("vs_float.sqnr_db") if isinstance(result, VerifyResult) and result.against_float else None
    )


def _loss(result: Result | None, lost: float, *, limited: bool = False) -> str:
    original = result.original if isinstance(result, VerifyResult) else ""
    whose = f"'{original}'" if original else "the float model"
    return f"{quantity('sqnr_db', lost)} from {whose}{_all_lost(lost, limited=limited) if lost < LARGE_LOSS_DB else ''}"


def _measured(
    opinion: DraftVerdict, result: MeasureResult, configured: ConfiguredJob | None, after: str
) -> DraftVerdict:
    if none_counts := gpu_notes.all_lost(result):
        return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=none_counts)
    if not result.measurements:
        nothing = f"nothing was measured: no sample was taken; {to_measure(result, configured)}"
        return replace(opinion, word=VerdictStatus.INCONCLUSIVE, reason=nothing)
    median_ms = metrics(result).get("latency.median_ms")
    if median_ms is None:
        return replace(opinion, reason=f"ok{after}")
    batch = min(measurement.batch for measurement in result.measurements)
    gpu_text = gpu_notes.gpu_notes(result)
    reason = f"median {quantity('latency.median_ms', median_ms)} at batch {batch}{gpu_text}{after}"
    return replace(opinion, reason=reason, metric="latency.median_ms", observed=median_ms)


def _all_lost(sqnr_db: float, *, limited: bool) -> str:
    """Of a large loss, and how to forbid it where no goal limits it; below 0 dB answers of zeros would lose less."""
    share = (
        "more than the answers themselves"
        if sqnr_db < 0.0
        else f"{100.0 * 10.0 ** (-sqnr_db / 20.0):.0f} % of the answers"
    )
    forbid = "" if limited else f": --require '{CLOSE_TO_FLOAT}' makes that a failure"
    return f", off by {share} on these inputs{forbid}"


def _join(violations: list[Violation]) -> str:
    shown = [
        f"{violation.text}; {violation.advice}" if violation.advice else violation.text for violation in violations[:3]
    ]
    return "; ".join(shown) + (f"; and {len(violations) - 3} more" if len(violations) > 3 else "")
