"""What a comparison is worth: by batch size, by metric, with the reason; and what proves nothing."""

from __future__ import annotations

import math

import pytest

from assay.core.engine_info import EngineInfo, Placement
from assay.core.measurement import Memory, OperatorTime
from assay.core.note import NoteCode, noted
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.speed import PairedRun, SpeedComparison, SpeedRule
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import DraftVerdict
from assay.judge.named_metrics import metrics
from assay.judge.operator_regressions import operator_regressions
from assay.judge.speed import judge_comparison, judge_speed
from assay.testing.builders import make_result

RULE = SpeedRule()


def _launches(cpu: float = 0.0, wall: float = 0.0, load: float = 0.0, count: int = 6) -> tuple[PairedRun, ...]:
    return tuple(PairedRun(cpu + 1e-3 * (n % 2), wall, load, 9, 1e-3, 1e-3) for n in range(count))


def _comparison(batch: int = 1, **changes: float) -> SpeedComparison:
    return SpeedComparison("old", _launches(**changes), "thread", 1e-3, 1e-3, batch)


def _opinion(result: Result) -> DraftVerdict:
    return judge_speed(DraftVerdict(result.job_key, VerdictStatus.PASS, "", result=result), Policy())


@pytest.mark.parametrize(
    ("seen", "word", "metric"),
    [
        (_comparison(), VerdictStatus.PASS, "speed.slowdown_percent"),
        (_comparison(cpu=0.05), VerdictStatus.FAIL, "speed.slowdown_percent"),
        (_comparison(wall=0.6), VerdictStatus.FAIL, "speed.wall_slowdown_percent"),
        (_comparison(load=0.7, count=8), VerdictStatus.FAIL, "speed.load_slowdown_percent"),
    ],
)
def test_each_kind_of_slower_has_its_figure(seen: SpeedComparison, word: VerdictStatus, metric: str) -> None:
    decision = judge_comparison(seen, RULE)
    assert (decision.word, decision.metric) == (word, metric)


@pytest.mark.parametrize("more", [{"cpu": 0.05}, {"wall": 0.6}])
def test_a_longer_load_is_said_whatever_else_is_slower(more: dict[str, float]) -> None:
    assert judge_comparison(_comparison(load=0.7, count=8, **more), RULE).text.endswith("; loads slower by 101 %, too")


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (
            SpeedComparison("old", trouble=noted(NoteCode.CPU_CLOCK_STOPPED)),
            "not comparable: the CPU-time clock of this machine does not advance",
        ),
        (
            SpeedComparison("old", _launches(count=3), "thread", out_of_time=True),
            "3 launches against old are too few; the time ran out",
        ),
        (
            SpeedComparison("old", tuple(PairedRun((-1) ** n * 0.4, 0.0, 0.0, 2) for n in range(20)), "thread"),
            "launches differ by 50.7 % (standard deviation): the machine is too restless",
        ),
        (
            SpeedComparison("old", tuple(PairedRun((-1) ** n * 0.035, 0.0, 0.0, 2) for n in range(20)), "thread"),
            "launches differ by 3.7 % (standard deviation): about 21 more launches would probably decide (--launches 41), or fewer",
        ),
    ],
    ids=["no clock", "no time", "too loaded", "loaded"],
)
def test_what_proves_nothing_is_neither_passed_nor_failed(seen: SpeedComparison, sentence: str) -> None:
    decision = judge_comparison(seen, RULE)
    assert decision.word is VerdictStatus.INCONCLUSIVE
    assert sentence in decision.text


def test_what_is_the_same_is_told_with_what_it_is_at_most_and_what_is_slower_with_its_interval() -> None:
    same = SpeedComparison("old", _launches(count=4), "thread", 2e-3, 1.9e-3)
    assert judge_comparison(same, RULE).text == (
        "same: +0.1 % CPU time against old (surely at most +0.5 %; 1.9 -> 2 ms a call; 4 launches)"
    )
    slower = SpeedComparison("old", _launches(cpu=0.05, count=4), "caller", 2e-3, 1.9e-3)
    assert judge_comparison(slower, RULE).text == (
        "slower: +5.2 % of the caller's time against old (surely between +3.2 % and +7.2 %; 1.9 -> 2 ms a call; 4 launches)"
    )


def test_the_worst_batch_size_counts_and_is_told_first() -> None:
    result = make_result(kind="compare_speed", speeds=(_comparison(1), _comparison(8, cpu=0.1), _comparison(32)))
    opinion = _opinion(result)
    assert (opinion.word, opinion.metric) == (VerdictStatus.FAIL, "speed.batch8.slowdown_percent")
    assert opinion.reason.startswith("at batch 8: slower: +10.6 %")
    assert "; the same or faster at batch 1, 32; " in opinion.reason
    named = metrics(result)
    assert named["speed.batch8.slowdown_percent"] == pytest.approx(10.57, abs=0.01)
    assert named["speed.slowdown_percent"] == pytest.approx(0.05, abs=0.01)


def test_stored_samples_are_held_against_all_engines_of_today() -> None:
    then = tuple(0.8e-3 * math.exp(0.01 * (n % 3 - 1)) for n in range(12))
    decision = judge_comparison(
        SpeedComparison("samples kept of the baseline", _launches(), "thread", stored=then), RULE
    )
    assert decision.word is VerdictStatus.FAIL
    assert "slower: +25" in decision.text
    assert "no less than 10 % counts" in decision.text


def test_a_slower_engine_says_which_operators_cost_more_and_what_changed() -> None:
    before = (OperatorTime("conv", "Conv", 4e-4, "float16"), OperatorTime("fused_1", "FusedConv", 2e-4))
    after = (OperatorTime("conv", "Conv", 9e-4, "float32"), OperatorTime("cast_7", "Cast", 1e-4))
    result = make_result(
        kind="compare_speed",
        speeds=(_comparison(cpu=0.5),),
        operator_times=after,
        baseline_operator_times=before,
        facts=EngineInfo(placements=(Placement("Conv", "cpu", "float32", 1), Placement("Cast", "cpu", "", 2, "cast"))),
        baseline_facts=EngineInfo(placements=(Placement("Conv", "cpu", "float16", 1, "fused"),)),
    )
    reason = _opinion(result).reason
    assert (
        "where, by the backend's profile: +0.5 ms Conv conv (0.4 -> 0.9 ms; float16 -> float32), +0.1 ms Cast" in reason
    )
    assert "fused kernels 1 -> 0, casts 0 -> 2" in reason
    assert [regression.operator for regression in operator_regressions(before, after)] == ["Conv", "FusedConv", "Cast"]


@pytest.mark.parametrize(("step", "leaks"), [(0, False), (4096, False), (65536, True)])
def test_growth_is_told_only_beyond_what_readings_are_blurred_by(step: int, leaks: bool) -> None:
    calls = tuple(range(1, 26))
    memory = Memory(soak_calls=calls, soak_bytes=tuple(10**8 + step * call for call in calls))
    named = metrics(make_result(kind="measure", memory=memory))
    assert named["memory.growth_bytes"] == 1000 * step
    assert (named["memory.growth_low_bytes"] > 65536) is leaks
    assert named["memory.growth_low_bytes"] >= 0
