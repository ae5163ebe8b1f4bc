"""What opens a third party's file may crash, hang or eat the memory: the item gets that as its answer, and the others theirs."""

from __future__ import annotations

import signal

from assay_zoo.limited_process import Ending, run_limited

GIB = 1 << 30


def endings(target: str, *items: object, seconds: float = 300.0) -> list[Ending]:
    return [one.ending for one in run_limited(target, items, seconds=seconds, memory_bytes=GIB)]


def test_an_answer_for_each_item_in_their_order() -> None:
    found = run_limited("builtins:len", ["a", "abc", ""], seconds=300, memory_bytes=GIB)
    assert [one.value for one in found] == [1, 3, 0]
    assert run_limited("builtins:len", [], seconds=300, memory_bytes=GIB) == []


def test_one_that_computes_for_ever_costs_its_time_and_no_other() -> None:
    found = run_limited("builtins:eval", ["1", "sum(iter(int, 1))", "1"], seconds=2, memory_bytes=GIB)
    assert [one.ending for one in found] == [Ending.OK, Ending.TIMEOUT, Ending.OK]
    assert "more than 2 s of a processor" in found[1].sentence


def test_the_time_of_each_is_its_own() -> None:
    assert endings("builtins:eval", *["sum(range(3 * 10**7))"] * 8, seconds=1) == [Ending.OK] * 8


def test_one_that_stands_still_blames_no_file() -> None:
    assert endings("time:sleep", 0, 10**6, 0, seconds=0.5) == [Ending.OK, Ending.HARNESS, Ending.OK]


def test_one_that_is_killed_by_another_blames_no_file() -> None:
    assert endings("signal:raise_signal", int(signal.SIGKILL)) == [Ending.HARNESS]


def test_one_that_crashes_is_named_by_its_signal() -> None:
    (found,) = run_limited("signal:raise_signal", [int(signal.SIGSEGV)], seconds=300, memory_bytes=GIB)
    assert found.ending is Ending.CRASH
    assert "SIGSEGV" in found.sentence
    assert endings("os:_exit", 3) == [Ending.CRASH]


def test_one_that_eats_the_memory_is_told_so() -> None:
    assert endings("builtins:bytearray", 1, 8 * GIB) == [Ending.OK, Ending.OUT_OF_MEMORY]


def test_one_that_raises_says_what() -> None:
    (found,) = run_limited("builtins:int", ["x"], seconds=300, memory_bytes=GIB)
    assert found.ending is Ending.ERROR
    assert "ValueError" in found.sentence


def test_a_process_that_never_comes_up_blames_no_item() -> None:
    assert endings("no_such_module:look", 1, 2) == [Ending.HARNESS, Ending.HARNESS]
