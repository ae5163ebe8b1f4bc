"""Loads in the history: their metrics, limits beside intervals, growth of memory, and what fails one."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from msgspec.structs import replace

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import LoadJob
from assay.core.load import LoadPoint
from assay.core.model import Model
from assay.core.policy import Goal, Policy
from assay.core.result import LoadResult
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.judge.load_metrics import growth, load_metrics, telling_s
from assay.judge.verdicts import judge
from assay.pipeline.record_load import load_policy_of, load_result

JOB = LoadJob(Case("tiny", Model("tiny", "", "")), Flow(name="chat", backend="openai"))
FAST = {"requests": 100.0, "errors": 0.0, "ttft_p50_ms": 10.0}
POINTS = (
    LoadPoint(5.0, FAST, {"ttft_p50_ms": (9.0, 12.0)}),
    LoadPoint(20.0, FAST | {"ttft_p50_ms": 30.0}, {"ttft_p50_ms": (25.0, 40.0)}),
)


def _result(points: tuple[LoadPoint, ...] = POINTS, trouble: str = "", doubt: str = "") -> LoadResult:
    return load_result(JOB, points, knee=5.0, source="", trouble=trouble, doubt=doubt)


def _judged(*goals: Goal, result: LoadResult | None = None, before: LoadResult | None = None) -> RunVerdict:
    judgement = result or _result()
    policy = load_policy_of(Policy(), goals, judgement.points)
    past = [] if before is None else [before]
    return judge([judgement], policy, planned=[JOB.key], today=date(2026, 1, 1), narrowed=True, baseline=past)


def test_metrics_are_of_each_rate_and_of_the_lowest() -> None:
    metrics = load_metrics(_result())
    assert metrics["load.ttft_p50_ms"] == metrics["load.rate5.ttft_p50_ms"] == 10.0
    assert metrics["load.rate20.ttft_p50_ms"] == 30.0
    assert metrics["load.knee_per_s"] == 5.0


LIMITS = {
    "kept": (Goal("load.ttft_p50_ms", max=20.0), VerdictStatus.PASS),
    "broken": (Goal("load.rate20.ttft_p50_ms", max=20.0), VerdictStatus.FAIL),
    "inside of the interval": (Goal("load.ttft_p50_ms", max=11.0), VerdictStatus.INCONCLUSIVE),
    "too low by a figure inside": (Goal("load.rate20.ttft_p50_ms", max=29.0), VerdictStatus.INCONCLUSIVE),
    "not measured": (Goal("load.rate50.ttft_p50_ms", max=20.0), VerdictStatus.INCONCLUSIVE),
}


@pytest.mark.parametrize("what", LIMITS)
def test_limits(what: str) -> None:
    goal, word = LIMITS[what]
    assert _judged(goal).run.word is word


def test_a_load_is_compared_with_the_run_before() -> None:
    goal = Goal("load.rate20.ttft_p50_ms", percent_max_degradation=10.0)
    slow = replace(POINTS[1], metrics=FAST | {"ttft_p50_ms": 20.0}, intervals={"ttft_p50_ms": (19.0, 21.0)})
    loose = Goal("load.rate20.ttft_p50_ms", percent_max_degradation=50.0)
    assert _judged(loose, before=_result()).run.word is VerdictStatus.PASS
    assert _judged(goal, before=_result((POINTS[0], slow))).run.word is VerdictStatus.FAIL
    near = replace(POINTS[1], metrics=FAST | {"ttft_p50_ms": 26.0})
    assert _judged(goal, before=_result((POINTS[0], near))).run.word is VerdictStatus.INCONCLUSIVE


def test_failed_requests_fail_unless_a_limit_allows_them() -> None:
    lossy = (replace(POINTS[0], metrics=FAST | {"errors": 3.0}),)
    assert _judged(result=_result(lossy)).run.word is VerdictStatus.FAIL
    assert _judged(Goal("load.rate5.errors", max=3.0), result=_result(lossy)).run.word is VerdictStatus.PASS
    assert _judged(result=_result(trouble="more than half of the requests failed")).run.word is VerdictStatus.FAIL


def test_a_late_sender_decides_nothing() -> None:
    judgement = _judged(Goal("load.ttft_p50_ms", max=1.0), result=_result(doubt="the sender itself was late"))
    assert judgement.run.word is VerdictStatus.INCONCLUSIVE


def test_goals_about_loads_are_not_asked_of_other_jobs() -> None:
    judgement = judge([], Policy(goals=(Goal("load.ttft_p50_ms", max=1.0),)), planned=[], today=date(2026, 1, 1))
    assert not any("load.ttft" in verdict.reason for verdict in judgement.verdicts)


@pytest.mark.parametrize(("percent", "leaks"), [(1.0, True), (0.0, False)])
def test_a_leak_of_one_percent_an_hour_is_found_in_an_hour(percent: float, leaks: bool) -> None:
    """Of 300 MB, with pages that come and go, in 20 draws."""
    seconds = np.arange(9.0, 3600.0, 9.0)
    for seed in range(20):
        noise = np.random.default_rng(seed).normal(0, 200e3, len(seconds))
        sizes = 300e6 * (1 + percent / 100 * seconds / 3600) + noise
        slopes = growth([*zip(seconds.tolist(), map(int, sizes), strict=True)])
        assert (slopes["memory_growth_low_percent"] > 0) is leaks
        assert slopes["memory_growth_low_percent"] <= percent <= slopes["memory_growth_high_percent"]


def test_a_load_of_two_seconds_tells_no_growth_unless_it_surely_grows() -> None:
    still = [(at / 10, 30_000_000) for at in range(20)]
    assert [*growth(still)] == ["memory_peak_bytes"]
    assert telling_s(still) == pytest.approx(84, abs=1)
    longer = [(at * telling_s(still) / 19, 30_000_000) for at in range(21)]
    assert growth(longer)["memory_growth_high_percent"] <= 100.0
    assert str(growth(longer)["memory_growth_percent"]) == "0.0"
    fast = [(at / 10, 30_000_000 + 10_000_000 * at) for at in range(20)]
    assert growth(fast)["memory_growth_low_percent"] > 0.0
