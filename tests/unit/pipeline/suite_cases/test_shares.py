"""Shares that take equally long, that every machine computes alike, and cases that no run knows."""

from __future__ import annotations

import random
import subprocess
import sys

from assay.core.case import Case
from assay.core.model import Model
from assay.pipeline.suite_cases.shares import balanced, split_digest
from assay.pipeline.suite_cases.suite_select import Selection, choose, select

SECONDS = {f"suite/{number}": float(number) for number in range(1, 41)}


def _cases(count: int = 20) -> list[Case]:
    return [Case(f"suite/{number}", Model("m", "m.onnx", "")) for number in range(count)]


def test_shares_are_balanced_by_what_each_case_took() -> None:
    shares = balanced(list(SECONDS), SECONDS, 3)
    sums = [sum(took for name, took in SECONDS.items() if shares[name] == number) for number in (1, 2, 3)]
    assert max(sums) <= 1.05 * min(sums)
    new = balanced([*SECONDS, "suite/new"], {**SECONDS, "suite/gone": 100.0}, 3)
    assert new.keys() == {*SECONDS, "suite/new"}


def test_a_case_that_no_run_knows_takes_the_median() -> None:
    """Not the mean, which a single case of an hour moves."""
    seconds = {"a": 1.0, "b": 1.0, "c": 1.0, "long": 3600.0}
    shares = balanced(["long", *(f"new/{number}" for number in range(100))], seconds, 2)
    assert [name for name, number in shares.items() if number == shares["long"]] == ["long"]


def test_no_share_is_empty_where_there_are_cases_enough() -> None:
    assert set(balanced(["a", "b", "c"], {}, 3).values()) == {1, 2, 3}
    assert set(balanced(["a", "b", "c"], dict.fromkeys("abc", 0.0), 3).values()) == {1, 2, 3}


def test_cases_that_take_alike_are_dealt_by_the_digest_of_their_names() -> None:
    """By their names, neighbours of one operator would go round in its order."""
    names = [f"op-{number:02}" for number in range(40)]
    shares = balanced(names, {}, 2)
    assert [shares[name] for name in names] != [1, 2] * 20
    assert sorted(shares.values()) == [1] * 20 + [2] * 20


def test_every_machine_computes_the_same_shares_whatever_the_order_and_the_hash() -> None:
    names, known = list(SECONDS), list(SECONDS.items())
    random.Random(3).shuffle(names)
    random.Random(4).shuffle(known)
    other = split_digest(balanced(names, dict(known), 3))
    assert other == split_digest(balanced(list(SECONDS), SECONDS, 3))
    program = (
        "from assay.pipeline.suite_cases.shares import balanced, split_digest\n"
        "seconds = {f'suite/{number}': float(number) for number in range(1, 41)}\n"
        "print(split_digest(balanced(set(seconds), seconds, 3)))"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == other


def test_shards_by_time_divide_every_case_exactly_once_and_say_how() -> None:
    seconds = {"suite/3": 9.0, "suite/4": 1.0}
    shards = [choose(_cases(), Selection(shard=(number, 2), seconds=seconds)) for number in (1, 2)]
    assert sorted(case.name for chosen in shards for case in chosen.cases) == sorted(case.name for case in _cases())
    assert shards[0].split == shards[1].split != ""
    other = [
        choose(_cases(), Selection(shard=(1, 2), seconds={**seconds, "suite/5": 5000.0})),
        choose(_cases(19), Selection(shard=(1, 2), seconds=seconds)),
    ]
    assert len({shards[0].split, *(chosen.split for chosen in other)}) == 3, "other durations and other cases differ"
    assert choose(_cases(), Selection(shard=(1, 2))).split == ""
    assert select(_cases(2), Selection(shard=(3, 3), seconds={})) == [], "a share may be empty: there are fewer cases"
