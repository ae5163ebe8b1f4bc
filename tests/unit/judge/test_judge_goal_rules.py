"""Goals: the arithmetic of one, and which jobs are asked."""

from __future__ import annotations

import datetime
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.core.comparison import StatedMetric
from assay.core.note import NoteCode, noted
from assay.core.outcome import Outcome
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.core.speed import SpeedComparison
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import BadPolicy
from assay.judge import judge
from assay.judge.goal_rules import absolute, relative
from assay.testing.builders import make_comparison, make_measurement, make_result

TODAY = datetime.date(2026, 11, 21)
FLOATS = st.floats(-1e9, 1e9)


def judged(*results: Result, goals: tuple[Goal, ...], baseline: tuple[Result, ...] = ()) -> RunVerdict:
    keys = [result.job_key for result in results]
    return judge(results, Policy(goals=goals), planned=keys, baseline=baseline, today=TODAY)


def of(*results: Result, goal: Goal, baseline: tuple[Result, ...] = ()) -> Verdict:
    return judged(*results, goals=(goal,), baseline=baseline).verdicts[0]


def timed(median_s: float, flow: str = "onnxruntime", **changes: object) -> Result:
    return make_result(
        flow=flow, kind="measure", measurements=(make_measurement(1, median_s=median_s, calls=50, **changes),)
    )


@pytest.mark.parametrize(
    ("limit", "observed", "kept"),
    [
        ({"max": 2.0}, 2.0, True),
        ({"max": 2.0}, 2.0000001, False),
        ({"max": 2.0}, math.nan, False),
        ({"max": math.nan}, 1.0, False),
        ({"min": 2.0}, 2.0, True),
        ({"min": 2.0}, 1.9, False),
        ({"min": 2.0}, math.nan, False),
        ({"min": 2.0}, math.inf, True),
    ],
)
def test_max_and_min(limit: dict[str, float], observed: float, kept: bool) -> None:
    assert (absolute(Goal("seconds", **limit), observed) is None) is kept


@pytest.mark.parametrize(
    ("metric", "limit", "observed", "base", "kept"),
    [
        ("latency.median_ms", {"max_degradation": 1.0}, 11.0, 10.0, True),
        ("latency.median_ms", {"max_degradation": 1.0}, 11.5, 10.0, False),
        ("latency.median_ms", {"max_degradation": 1.0}, 2.0, 10.0, True),
        ("latency.median_ms", {"percent_max_degradation": 20.0}, 12.0, 10.0, True),
        ("latency.median_ms", {"percent_max_degradation": 20.0}, 12.1, 10.0, False),
        ("latency.median_ms", {"percent_max_degradation": 20.0}, math.nan, 10.0, False),
        ("throughput.per_s", {"percent_max_degradation": 20.0}, 80.0, 100.0, True),
        ("throughput.per_s", {"percent_max_degradation": 20.0}, 79.0, 100.0, False),
        ("throughput.per_s", {"percent_max_degradation": 20.0}, 500.0, 100.0, True),
        ("sqnr_db", {"percent_max_degradation": 10.0}, -12.0, -10.0, False),
        ("sqnr_db", {"percent_max_degradation": 10.0}, -11.0, -10.0, True),
        ("sqnr_db", {"percent_max_degradation": 10.0}, math.inf, math.inf, True),
        ("sqnr_db", {"percent_max_degradation": 10.0}, 200.0, math.inf, False),
        ("sqnr_db", {"max_degradation": 10.0}, 200.0, math.inf, False),
        ("norm_ratio", {"max_degradation": 0.1}, 0.85, 1.0, False),
        ("norm_ratio", {"max_degradation": 0.1}, 1.15, 1.0, False),
        ("norm_ratio", {"max_degradation": 0.1}, 0.95, 1.0, True),
        ("undelegated", {"percent_max_degradation": 50.0}, 0.0, 0.0, True),
        ("undelegated", {"percent_max_degradation": 50.0}, 1.0, 0.0, False),
        ("undelegated", {"max_degradation": 1.0}, 1.0, 0.0, True),
    ],
)
def test_degradation(metric: str, limit: dict[str, float], observed: float, base: float, kept: bool) -> None:
    complaint = relative(Goal(metric, **limit), observed, base, "the baseline run")
    assert (complaint is None) is kept
    assert complaint is None or complaint.word is VerdictStatus.FAIL


def test_a_baseline_that_is_no_number_proves_nothing() -> None:
    complaint = relative(Goal("seconds", max_degradation=1.0), 1.0, math.nan, "the baseline run")
    assert complaint is not None
    assert complaint.word is VerdictStatus.INCONCLUSIVE


def test_a_zero_baseline_says_which_goal_would_work() -> None:
    complaint = relative(Goal("undelegated", percent_max_degradation=50.0), 2.0, 0.0, "the baseline run")
    assert complaint is not None
    assert "only max-degradation can allow anything" in complaint.text


@settings(deadline=None)
@given(observed=FLOATS, limits=st.tuples(FLOATS, FLOATS))
def test_a_tighter_limit_never_turns_fail_into_pass(observed: float, limits: tuple[float, float]) -> None:
    low, high = sorted(limits)
    if absolute(Goal("seconds", max=high), observed):
        assert absolute(Goal("seconds", max=low), observed)
    if absolute(Goal("seconds", min=low), observed):
        assert absolute(Goal("seconds", min=high), observed)


@settings(deadline=None)
@given(
    observed=FLOATS, base=FLOATS, limits=st.tuples(st.floats(0, 1e9), st.floats(0, 1e9)),
    metric=st.sampled_from(["seconds", "throughput.per_s", "norm_ratio"]),
    name=st.sampled_from(["max_degradation", "percent_max_degradation"]),
)  # fmt: skip
def test_a_tighter_degradation_never_turns_fail_into_pass(
    observed: float, base: float, limits: tuple[float, float], metric: str, name: str
) -> None:
    tight, loose = sorted(limits)
    if relative(Goal(metric, **{name: loose}), observed, base, "it"):
        assert relative(Goal(metric, **{name: tight}), observed, base, "it")


@settings(deadline=None)
@given(base=FLOATS, observed=FLOATS)
def test_a_figure_is_worse_in_one_direction_only(base: float, observed: float) -> None:
    goal = Goal("seconds", max_degradation=0.0)
    assert (relative(goal, observed, base, "it") is None) == (observed <= base)
    assert relative(goal, base, base, "it") is None


def test_a_goal_that_is_kept_is_told_and_one_that_is_not_fails() -> None:
    fine = of(timed(0.001), goal=Goal("latency.median_ms", max=2.0))
    assert (fine.word, fine.reason.endswith("; 1 goal met")) == (VerdictStatus.PASS, True)
    slow = of(timed(0.003), goal=Goal("latency.median_ms", max=2.0))
    assert slow.word is VerdictStatus.FAIL
    assert (slow.metric, slow.allowed) == ("latency.median_ms", 2.0)
    assert slow.reason.startswith("latency.median_ms is 3 ms, allowed is at most 2 ms; ")


def test_a_latency_whose_warm_up_never_settled_says_so() -> None:
    assert "warm-up had not settled" in of(timed(0.003, stable=False), goal=Goal("latency.median_ms", max=2.0)).reason


def test_several_failing_goals_are_one_verdict_with_all_reasons() -> None:
    goals = (Goal("latency.median_ms", max=2.0), Goal("seconds", max=0.1))
    judgement = judged(timed(0.003), goals=goals)
    assert len(judgement.verdicts) == 1
    assert "latency.median_ms" in judgement.verdicts[0].reason
    assert "seconds is 0.436 s" in judgement.verdicts[0].reason


def test_globs_choose_the_cells() -> None:
    goal = Goal("latency.median_ms", max=2.0, flow="openvino-*")
    words = [verdict.word for verdict in judged(timed(0.003), timed(0.003, "openvino-f32"), goals=(goal,)).verdicts]
    assert words == [VerdictStatus.PASS, VerdictStatus.FAIL]


def test_a_goal_that_matches_no_job_fails_the_run() -> None:
    judgement = judged(make_result(), goals=(Goal("seconds", max=9.0, flow="openvion-*"),))
    assert judgement.exit_code == 1
    assert "matches no job" in judgement.verdicts[-1].reason


@pytest.mark.parametrize(("option", "place"), [("--require", "--require"), ("", "[[policy.goal]]")])
def test_a_limit_is_changed_where_it_was_stated(option: str, place: str) -> None:
    goal = Goal("seconds", max=0.0, option=option)
    assert of(make_result(), goal=goal).reason.endswith(f"bring it down, or change the limit in {place}")
    goal = Goal("seconds", percent_max_degradation=0.0, option=option)
    slower = of(make_result(seconds=9.0), goal=goal, baseline=(make_result(seconds=1.0),))
    assert slower.reason.endswith(f"or allow more in {place}")


def test_a_limit_of_the_command_line_that_matches_no_job_is_named_by_its_option() -> None:
    unused = judged(goals=(Goal("seconds", max=9.0, option="--require"),)).verdicts[-1]
    assert unused.reason == "--require over seconds matches no job: remove it"


def test_a_figure_that_no_job_recorded_fails_and_names_the_nearest() -> None:
    verdict = of(make_result(), goal=Goal("budget_usd", max=1.0))
    assert verdict.word is VerdictStatus.FAIL
    assert verdict.reason.startswith("metric not recorded: budget_usd; the nearest are budget_used")


def test_a_latency_goal_without_measuring_fails() -> None:
    verdict = of(make_result(), goal=Goal("latency.median_ms", max=1.0))
    assert verdict.word is VerdictStatus.FAIL
    assert "set enabled = true in [measure]" in verdict.reason


def test_the_verify_job_owes_no_latency_where_there_is_a_measure_job() -> None:
    judgement = judged(make_result(), timed(0.001), goals=(Goal("latency.median_ms", max=2.0),))
    assert [verdict.word for verdict in judgement.verdicts] == [VerdictStatus.PASS, VerdictStatus.PASS]
    assert "goal" not in judgement.verdicts[0].reason


def test_a_crashed_job_owes_no_figures_and_nobody_answers_for_it() -> None:
    crashed = make_result(kind="measure", outcome=Outcome.CRASH, measurements=())
    judgement = judged(make_result(), crashed, goals=(Goal("latency.median_ms", max=2.0),))
    assert [verdict.word for verdict in judgement.verdicts] == [VerdictStatus.PASS, VerdictStatus.FAIL]
    assert "not recorded" not in judgement.verdicts[1].reason


def test_too_few_samples_are_inconclusive() -> None:
    verdict = of(timed(0.001), goal=Goal("latency.p99_ms", max=99.0))
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert verdict.reason == "latency.p99_ms needs 459 samples and 50 were taken: raise seconds in [measure]"


def test_against_the_baseline_run() -> None:
    goal = Goal("latency.median_ms", percent_max_degradation=20.0)
    old = timed(0.001)
    assert of(timed(0.0011), goal=goal, baseline=(old,)).word is VerdictStatus.PASS
    worse = of(timed(0.002), goal=goal, baseline=(old,))
    assert worse.word is VerdictStatus.FAIL
    assert "where the baseline run has 1 ms, 100 % worse, allowed is 20 % worse" in worse.reason
    assert worse.allowed == pytest.approx(1.2)


def test_without_an_approved_engine_only_the_comparison_says_so() -> None:
    goal = Goal("latency.median_ms", percent_max_degradation=20.0)
    lonely = make_result(
        kind="compare_speed",
        speeds=(SpeedComparison("old", trouble=noted(NoteCode.BASELINE_UNUSABLE, reason="no baseline")),),
    )
    judgement = judged(timed(0.001), lonely, goals=(goal,))
    assert [verdict.word for verdict in judgement.verdicts] == [VerdictStatus.PASS, VerdictStatus.INCONCLUSIVE]
    assert judgement.verdicts[1].reason == "not comparable: no baseline"
    assert judged(timed(0.002), lonely, goals=(goal,), baseline=(timed(0.001),)).verdicts[0].word is VerdictStatus.FAIL


def test_against_another_flow_of_the_same_run() -> None:
    goal = Goal("latency.median_ms", percent_max_degradation=20.0, against="flow:onnxruntime", flow="openvino-*")
    judgement = judged(timed(0.001), timed(0.002, "openvino-f32"), goals=(goal,))
    assert [verdict.word for verdict in judgement.verdicts] == [VerdictStatus.PASS, VerdictStatus.FAIL]
    assert "flow 'onnxruntime'" in judgement.verdicts[1].reason
    alone = judged(timed(0.002, "openvino-f32"), goals=(goal,))
    assert alone.exit_code == 3
    assert "add 'onnxruntime' to the flows" in alone.verdicts[0].reason


def test_a_baseline_that_crashed_is_no_baseline() -> None:
    crashed = make_result(kind="measure", outcome=Outcome.CRASH, measurements=())
    goal = Goal("latency.median_ms", max_degradation=1.0)
    assert of(timed(0.001), goal=goal, baseline=(crashed,)).word is VerdictStatus.INCONCLUSIVE


@pytest.mark.parametrize("limits", [{}, {"max": 1.0, "min": 0.0}])
def test_a_goal_has_exactly_one_limit(limits: dict[str, float]) -> None:
    with pytest.raises(BadPolicy, match="exactly one of"):
        judged(make_result(), goals=(Goal("seconds", **limits),))


def test_a_nan_metric_fails_its_goal() -> None:
    metrics = {**make_comparison().metrics, "cosine": math.nan}
    broken = replace(make_result(), comparisons=(make_comparison(metrics=metrics),))
    assert of(broken, goal=Goal("cosine", min=0.9)).word is VerdictStatus.FAIL


def test_a_goal_on_a_plug_ins_figure_follows_what_it_states() -> None:
    stated = {"agreement": StatedMetric("points", "down"), "max_abs": StatedMetric("points", "down")}
    goal = Goal("logits.agreement", percent_max_degradation=5.0)
    assert relative(goal, 99.0, 90.0, "the baseline run", stated) is None
    fallen = relative(goal, 80.0, 90.0, "the baseline run", stated)
    assert fallen is not None
    assert "is 80 points where the baseline run has 90 points, 11.11 % worse" in fallen.text
    assert fallen.allowed == 85.5
    assert relative(goal, 99.0, 90.0, "the baseline run") is not None
    listed = Goal("logits.max_abs", max_degradation=0.0)
    assert relative(listed, 1.0, 2.0, "the baseline run", stated) is None


def test_without_a_baseline_the_text_says_how_to_give_one() -> None:
    goal = Goal("latency.median_ms", percent_max_degradation=5.0)
    verdict = of(timed(0.01), goal=goal)
    assert verdict.word is VerdictStatus.INCONCLUSIVE
    assert verdict.reason == (
        "latency.median_ms cannot be compared: no run was given as the baseline; add --compare-run RUN or --baseline, "
        "or judge by max or min"
    )
    elsewhere = of(timed(0.01), goal=goal, baseline=(timed(0.01, flow="other"),))
    assert elsewhere.reason == (
        "latency.median_ms cannot be compared, the baseline run has no such metric for this job: name a run that has it as "
        "the baseline (--compare-run RUN), or judge by max or min"
    )
