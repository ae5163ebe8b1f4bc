"""From outcome and comparison to a word, before goals and expectations."""

from __future__ import annotations

import datetime
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.finding import Finding, FindingCode, facts
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.judge import judge
from assay.testing.builders import make_comparison, make_measurement, make_result

POOR_REFERENCE = Finding("degenerate", "scores", FindingCode.REFERENCE_CONSTANT, facts(value=0.1, elements=640))
TODAY = datetime.date(2026, 11, 21)


def judged(*results: Result, policy: Policy = Policy()) -> RunVerdict:
    return judge(results, policy, planned=[result.job_key for result in results], today=TODAY)


def of(result: Result, policy: Policy = Policy()) -> Verdict:
    return judged(result, policy=policy).verdicts[0]


def mismatch(used: float, *kinds: str, **changes: object) -> Result:
    findings = tuple(Finding(kind, "scores") for kind in kinds)
    comparison = make_comparison(budget_used=used, findings=findings)
    return make_result(**{"outcome": Outcome.MISMATCH, "comparisons": (comparison,), **changes})


@pytest.mark.parametrize(
    ("outcome", "by_default", "tolerated"),
    [
        (Outcome.UNSUPPORTED, VerdictStatus.SKIP, VerdictStatus.SKIP),
        (Outcome.UNDELEGATED, VerdictStatus.SKIP, VerdictStatus.SKIP),
        (Outcome.OTHER_PRECISION, VerdictStatus.INCONCLUSIVE, VerdictStatus.INCONCLUSIVE),
        (Outcome.ERROR, VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE),
        (Outcome.CRASH, VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE),
        (Outcome.TIMEOUT, VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE),
        (Outcome.OUT_OF_MEMORY, VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE),
        (Outcome.NONDETERMINISTIC, VerdictStatus.FAIL, VerdictStatus.INCONCLUSIVE),
        (Outcome.UNAVAILABLE, VerdictStatus.SKIP, VerdictStatus.SKIP),
        (Outcome.LOWERED, VerdictStatus.SKIP, VerdictStatus.SKIP),
        (Outcome.MISTRUSTED, VerdictStatus.INCONCLUSIVE, VerdictStatus.INCONCLUSIVE),
        (Outcome.INFRASTRUCTURE, VerdictStatus.ERROR, VerdictStatus.ERROR),
        (Outcome.OK, VerdictStatus.PASS, VerdictStatus.PASS),
    ],
)
def test_only_the_policy_turns_an_outcome_into_a_failure(
    outcome: Outcome, by_default: VerdictStatus, tolerated: VerdictStatus
) -> None:
    result = make_result(outcome=outcome)
    assert of(result).word is by_default
    assert of(result, Policy(fail_on=())).word is tolerated
    if outcome not in (Outcome.OK, Outcome.INFRASTRUCTURE):
        assert of(result, Policy(fail_on=(outcome.value,))).word is VerdictStatus.FAIL


@pytest.mark.parametrize(
    ("stage", "word"), [(Stage.LOWER, VerdictStatus.FAIL), (Stage.MEASURE, VerdictStatus.INCONCLUSIVE)]
)
def test_a_comparison_that_the_machine_was_too_busy_for_is_undecided(stage: Stage, word: VerdictStatus) -> None:
    verdict = of(make_result(kind="compare_speed", outcome=Outcome.TIMEOUT, stage=stage, detail="no answer within 1 s"))
    assert verdict.word is word
    assert "no answer within 1 s" in verdict.reason


@pytest.mark.parametrize(
    ("outcome", "detail", "reason"),
    [
        (
            Outcome.TIMEOUT,
            "no answer within 300 s while in stage lower",
            "timeout in lower: no answer within 300 s while in stage lower; "
            "raise --timeout (timeout-s in [limits]) if it may take longer",
        ),
        (
            Outcome.OUT_OF_MEMORY,
            "900 MB resident while in stage lower; the limit is 800 MB",
            "out of memory in lower: 900 MB resident while in stage lower; the limit is 800 MB; "
            "raise --memory (memory in [limits]) if it may take more",
        ),
    ],
)
def test_a_limit_that_was_passed_is_told_with_the_option_that_raises_it(
    outcome: Outcome, detail: str, reason: str
) -> None:
    result = make_result(outcome=outcome, stage=Stage.LOWER, detail=detail, comparisons=())
    assert of(result).reason == reason


def test_the_reason_of_a_crash_says_where_and_what_to_do() -> None:
    result = make_result(outcome=Outcome.CRASH, stage=Stage.LOWER, signal="SIGSEGV", node="/conv", comparisons=())
    reason = of(result).reason
    assert reason.startswith("crash in lower at node '/conv' (SIGSEGV); ")
    assert "repro line" in reason


@pytest.mark.parametrize(
    ("outcome", "cause", "detail"),
    [
        (Outcome.ERROR, Cause.WRONG_USAGE, "the options contradict each other; leave one of them out"),
        (
            Outcome.UNAVAILABLE,
            Cause.NO_ENVIRONMENT,
            "environment 'x' cannot be resolved: there is no version of y==99",
        ),
        (
            Outcome.UNSUPPORTED,
            Cause.NOTHING_TO_DO,
            "no operator is left of this model: there is nothing to compute in int8",
        ),
    ],
)
def test_no_advice_is_added_to_a_sentence_that_says_what_to_do(outcome: Outcome, cause: Cause, detail: str) -> None:
    result = make_result(outcome=outcome, stage=Stage.LOWER, cause=cause, detail=f"{detail}.", comparisons=())
    assert of(result).reason == f"{outcome.value} in lower: {detail}"


def test_a_mismatch_names_output_worst_element_figure_and_limit() -> None:
    verdict = of(mismatch(3.4, "values"))
    assert verdict.word is VerdictStatus.FAIL
    assert (verdict.metric, verdict.observed, verdict.allowed) == ("budget_used", 3.4, 1.0)
    for part in ("'scores'", "budget used 3.4", "allowed 1 ", "[17, 0, 3]", "expected 4.25", "[model.tolerance"):
        assert part in verdict.reason


def test_a_recorded_mismatch_is_judged_anew_by_the_policys_budget() -> None:
    result = mismatch(3.4, "values")
    assert of(result, Policy(budget_max=4.0)).word is VerdictStatus.PASS
    assert "recorded as mismatch, within this policy" in of(result, Policy(budget_max=4.0)).reason
    assert of(result, Policy(budget_max=3.0)).word is VerdictStatus.FAIL


def test_a_recorded_ok_fails_a_tighter_budget() -> None:
    verdict = of(make_result(), Policy(budget_max=0.1))
    assert verdict.word is VerdictStatus.FAIL
    assert verdict.allowed == 0.1


@pytest.mark.parametrize(
    "kind",
    ["missing_output", "extra_output", "samples", "dtype", "shape", "nan", "infinity", "degenerate", "empty", "task"],
)
def test_no_budget_excuses_another_kind_of_finding(kind: str) -> None:
    for outcome in (Outcome.MISMATCH, Outcome.OK, Outcome.MISTRUSTED, Outcome.UNDELEGATED):
        verdict = of(mismatch(0.1, kind, outcome=outcome), Policy(budget_max=1e9, fail_on=("mismatch",)))
        assert verdict.word is VerdictStatus.FAIL
        assert f": {kind.replace('_', ' ')};" in verdict.reason
        assert kind.replace("_", " ") in verdict.reason


def test_a_finding_of_the_whole_job_fails_too() -> None:
    assert of(make_result(findings=(Finding("missing_output", "x"),))).word is VerdictStatus.FAIL


@pytest.mark.parametrize("outcome", [Outcome.OK, Outcome.MISMATCH])
def test_a_nan_never_passes(outcome: Outcome) -> None:
    result = make_result(outcome=outcome, comparisons=(make_comparison(budget_used=math.nan),))
    verdict = of(result, Policy(budget_max=1e300))
    assert verdict.word is VerdictStatus.FAIL
    assert "not a number" in verdict.reason


def test_a_mismatch_that_the_budget_does_not_explain_stands() -> None:
    for comparisons in ((), (make_comparison(budget_used=0.5),)):
        result = make_result(outcome=Outcome.MISMATCH, detail="it differs", comparisons=comparisons)
        verdict = of(result, Policy(budget_max=100.0))
        assert verdict.word is VerdictStatus.FAIL
        assert "it differs" in verdict.reason
    assert of(mismatch(0.5, "values"), Policy(budget_max=100.0)).word is VerdictStatus.FAIL


def test_one_output_within_the_budget_does_not_excuse_the_other() -> None:
    bad = make_comparison("b", budget_used=9.0, findings=(Finding("values", "b"),))
    slight = make_comparison("a", budget_used=1.5, findings=(Finding("values", "a"),))
    result = make_result(outcome=Outcome.MISMATCH, comparisons=(slight, bad))
    assert of(result, Policy(budget_max=2.0)).word is VerdictStatus.FAIL
    assert of(result, Policy(budget_max=9.0)).word is VerdictStatus.PASS


def test_a_relaxed_budget_does_not_make_a_poor_output_trusted() -> None:
    poor = make_comparison(budget_used=2.0, degenerate=POOR_REFERENCE, findings=(Finding("values", "scores"),))
    result = make_result(outcome=Outcome.MISMATCH, comparisons=(poor,))
    verdict = of(result, Policy(budget_max=3.0))
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert "constant (0.1)" in verdict.reason


def test_an_undelegated_or_repeated_job_with_wrong_values_still_fails() -> None:
    over = (make_comparison(budget_used=7.0),)
    for outcome in (Outcome.UNDELEGATED, Outcome.NONDETERMINISTIC, Outcome.MISTRUSTED):
        result = make_result(outcome=outcome, comparisons=over)
        assert of(result, Policy(fail_on=("mismatch",))).word is VerdictStatus.FAIL


def test_a_pass_needs_something_that_was_compared_or_measured() -> None:
    assert of(make_result(comparisons=())).word is VerdictStatus.INCONCLUSIVE
    assert of(make_result(comparisons=(make_comparison(metrics={}),))).word is VerdictStatus.INCONCLUSIVE
    assert of(make_result(kind="measure", measurements=())).word is VerdictStatus.INCONCLUSIVE
    assert of(make_result(kind="inspect")).word is VerdictStatus.PASS


def test_a_crash_that_only_came_after_other_jobs_is_told() -> None:
    assert "after other jobs" in of(make_result(only_after_other_jobs=True)).reason
    assert "did not repeat" in of(make_result(outcome=Outcome.CRASH, only_after_other_jobs=True)).reason


def test_a_measurement_passes_with_its_median() -> None:
    verdict = of(make_result(kind="measure", measurements=(make_measurement(4, median_s=0.002),)))
    assert verdict.reason == "median 2 ms at batch 4"


@settings(deadline=None)
@given(
    used=st.floats(0, 1e6) | st.just(math.nan) | st.just(math.inf),
    limits=st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)),
    kinds=st.lists(st.sampled_from(["values", "nan", "shape"]), max_size=2, unique=True),
    outcome=st.sampled_from([Outcome.OK, Outcome.MISMATCH]),
)
def test_a_tighter_budget_never_turns_fail_into_pass(
    used: float, limits: tuple[float, float], kinds: list[str], outcome: Outcome
) -> None:
    tight, loose = sorted(limits)
    result = mismatch(used, *kinds, outcome=outcome)
    if of(result, Policy(budget_max=loose)).word is VerdictStatus.FAIL:
        assert of(result, Policy(budget_max=tight)).word is VerdictStatus.FAIL
    if of(result, Policy(budget_max=tight)).word is VerdictStatus.PASS:
        assert used <= max(tight, 0.0)


@settings(deadline=None)
@given(outcome=st.sampled_from(list(Outcome)), more=st.sampled_from(list(Outcome)), used=st.floats(0, 5))
def test_failing_on_more_never_turns_fail_into_pass(outcome: Outcome, more: Outcome, used: float) -> None:
    result = mismatch(used, outcome=outcome)
    before, after = Policy(fail_on=("mismatch",)), Policy(fail_on=("mismatch", more.value))
    if of(result, before).word is VerdictStatus.FAIL:
        assert of(result, after).word is VerdictStatus.FAIL


def test_no_tolerance_is_proposed_for_what_lies_inside_a_model() -> None:
    inner = make_result(
        kind="per_node", outcome=Outcome.MISMATCH, comparisons=(make_comparison("/5/Conv", budget_used=5.0),)
    )
    reason = judged(inner).verdicts[0].reason
    assert "fix the flow" in reason
    assert "model.tolerance" not in reason
