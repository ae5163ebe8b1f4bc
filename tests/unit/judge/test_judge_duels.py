"""What a duel is worth: by batch size, by figure, with the reason; and what proves nothing."""

from __future__ import annotations

import math

import pytest

from assay.core.duel import DEAD_CLOCK, LATE, Duel, Launch, SpeedRule
from assay.core.policy import Policy
from assay.core.result import BuildFacts, Memory, OperatorTime, Placement, Result
from assay.core.verdict import Word
from assay.judge.duels import judged, judged_duel
from assay.judge.figures import figures
from assay.judge.operator_changes import operator_changes
from assay.judge.opinion import Opinion
from assay.testing.builders import make_result

RULE = SpeedRule()


def _launches(cpu: float = 0.0, wall: float = 0.0, load: float = 0.0, count: int = 6) -> tuple[Launch, ...]:
    return tuple(Launch(cpu + 1e-3 * (n % 2), wall, load, 9, 1e-3, 1e-3) for n in range(count))


def _duel(batch: int = 1, **changes: float) -> Duel:
    return Duel("old", _launches(**changes), "thread", 1e-3, 1e-3, batch)


def _opinion(result: Result) -> Opinion:
    return judged(Opinion(result.job_key, Word.PASS, "", result=result), Policy())


@pytest.mark.parametrize(
    ("seen", "word", "figure"),
    [
        (_duel(), Word.PASS, "duel.slowdown_percent"),
        (_duel(cpu=0.05), Word.FAIL, "duel.slowdown_percent"),
        (_duel(wall=0.6), Word.FAIL, "duel.wall_slowdown_percent"),
        (_duel(load=0.7, count=8), Word.FAIL, "duel.load_slowdown_percent"),
    ],
)
def test_each_kind_of_slower_has_its_figure(seen: Duel, word: Word, figure: str) -> None:
    told = judged_duel(seen, RULE)
    assert (told.word, told.figure) == (word, figure)


@pytest.mark.parametrize(
    ("seen", "sentence"),
    [
        (Duel("old", trouble=DEAD_CLOCK), "not comparable: the CPU-time clock of this machine does not advance"),
        (Duel("old", _launches(count=3), "thread", ended=LATE), "3 launches against old are too few; the time ran out"),
        (
            Duel("old", tuple(Launch((-1) ** n * 0.4, 0.0, 0.0, 2) for n in range(20)), "thread"),
            "launches differ by 50.7 % (standard deviation): the machine is too restless",
        ),
        (
            Duel("old", tuple(Launch((-1) ** n * 0.035, 0.0, 0.0, 2) for n in range(20)), "thread"),
            "launches differ by 3.7 % (standard deviation): about 21 more launches would probably decide (--launches 41), or fewer",
        ),
    ],
    ids=["no clock", "no time", "too loaded", "loaded"],
)
def test_what_proves_nothing_is_neither_passed_nor_failed(seen: Duel, sentence: str) -> None:
    told = judged_duel(seen, RULE)
    assert told.word is Word.INCONCLUSIVE
    assert sentence in told.text


def test_what_is_the_same_is_told_with_what_it_is_at_most_and_what_is_slower_with_its_interval() -> None:
    same = Duel("old", _launches(count=4), "thread", 2e-3, 1.9e-3)
    assert judged_duel(same, RULE).text == (
        "same: +0.1 % CPU time against old (surely at most +0.5 %; 1.9 -> 2 ms a call; 4 launches)"
    )
    slower = Duel("old", _launches(cpu=0.05, count=4), "caller", 2e-3, 1.9e-3)
    assert judged_duel(slower, RULE).text == (
        "slower: +5.2 % of the caller's time against old (surely between +3.2 % and +7.2 %; 1.9 -> 2 ms a call; 4 launches)"
    )


def test_the_worst_batch_size_counts_and_is_told_first() -> None:
    result = make_result(task="duel", duel=_duel(1), more_duels=(_duel(8, cpu=0.1), _duel(32)))
    found = _opinion(result)
    assert (found.word, found.figure) == (Word.FAIL, "duel.batch8.slowdown_percent")
    assert found.reason.startswith("at batch 8: slower: +10.6 %")
    assert "; the same or faster at batch 1, 32; " in found.reason
    named = figures(result)
    assert named["duel.batch8.slowdown_percent"] == pytest.approx(10.57, abs=0.01)
    assert named["duel.slowdown_percent"] == pytest.approx(0.05, abs=0.01)


def test_stored_samples_are_held_against_all_engines_of_today() -> None:
    then = tuple(0.8e-3 * math.exp(0.01 * (n % 3 - 1)) for n in range(12))
    told = judged_duel(Duel("samples kept of the baseline", _launches(), "thread", stored=then), RULE)
    assert told.word is Word.FAIL
    assert "slower: +25" in told.text
    assert "no less than 10 % counts" in told.text


def test_a_slower_engine_says_which_operators_cost_more_and_what_changed() -> None:
    before = (OperatorTime("conv", "Conv", 4e-4, "float16"), OperatorTime("fused_1", "FusedConv", 2e-4))
    after = (OperatorTime("conv", "Conv", 9e-4, "float32"), OperatorTime("cast_7", "Cast", 1e-4))
    result = make_result(
        task="duel",
        duel=_duel(cpu=0.5),
        operator_times=after,
        rival_operator_times=before,
        facts=BuildFacts(placements=(Placement("Conv", "cpu", "float32", 1), Placement("Cast", "cpu", "", 2, "cast"))),
        rival_facts=BuildFacts(placements=(Placement("Conv", "cpu", "float16", 1, "fused"),)),
    )
    reason = _opinion(result).reason
    assert (
        "where, by the backend's profile: +0.5 ms Conv conv (0.4 -> 0.9 ms; float16 -> float32), +0.1 ms Cast" in reason
    )
    assert "fused kernels 1 -> 0, casts 0 -> 2" in reason
    assert [one.operator for one in operator_changes(before, after)] == ["Conv", "FusedConv", "Cast"]


@pytest.mark.parametrize(("step", "leaks"), [(0, False), (4096, False), (65536, True)])
def test_growth_is_told_only_beyond_what_readings_are_blurred_by(step: int, leaks: bool) -> None:
    calls = tuple(range(1, 26))
    memory = Memory(soak_calls=calls, soak_bytes=tuple(10**8 + step * call for call in calls))
    named = figures(make_result(task="measure", memory=memory))
    assert named["memory.growth_bytes"] == 1000 * step
    assert (named["memory.growth_low_bytes"] > 65536) is leaks
    assert named["memory.growth_low_bytes"] >= 0
