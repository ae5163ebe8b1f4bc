"""What opens a third party's file may crash, hang or eat the memory: the item gets that as its answer, and the others theirs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import pytest

from assay_zoo.limited_process import Ending, run_limited

GIB = 1 << 30


def endings(target: str, *items: object, seconds: float = 300.0) -> list[Ending]:
    return [answer.ending for answer in run_limited(target, items, seconds=seconds, memory_bytes=GIB)]


def test_an_answer_for_each_item_in_their_order() -> None:
    lookeds = run_limited("builtins:len", ["a", "abc", ""], seconds=300, memory_bytes=GIB)
    assert [answer.value for answer in lookeds] == [1, 3, 0]
    assert run_limited("builtins:len", [], seconds=300, memory_bytes=GIB) == []


def test_one_that_computes_for_ever_costs_its_time_and_no_other() -> None:
    lookeds = run_limited("builtins:eval", ["1", "sum(iter(int, 1))", "1"], seconds=1, memory_bytes=GIB)
    assert [answer.ending for answer in lookeds] == [Ending.OK, Ending.TIMEOUT, Ending.OK]
    assert "more than 1 s of a processor" in lookeds[1].sentence


NOW = "__import__('time').process_time"
BUSY = f"(lambda begin: any(one - begin > 0.3 for one in iter({NOW}, None)))({NOW}())"
"""For three tenths of a second of a processor, on any machine."""


def test_the_time_of_each_is_its_own() -> None:
    assert endings("builtins:eval", *[BUSY] * 7, seconds=1) == [Ending.OK] * 7


def test_one_that_stands_still_blames_no_file() -> None:
    assert endings("time:sleep", 0, 10**6, 0, seconds=0.5) == [Ending.OK, Ending.HARNESS, Ending.OK]


def test_one_that_is_killed_by_another_blames_no_file() -> None:
    assert endings("signal:raise_signal", int(signal.SIGKILL)) == [Ending.HARNESS]


def test_one_that_crashes_is_named_by_its_signal() -> None:
    (ending,) = run_limited("signal:raise_signal", [int(signal.SIGSEGV)], seconds=300, memory_bytes=GIB)
    assert ending.ending is Ending.CRASH
    assert "SIGSEGV" in ending.sentence
    assert endings("os:_exit", 3) == [Ending.CRASH]


def test_one_that_eats_the_memory_is_told_so() -> None:
    assert endings("builtins:bytearray", 1, 8 * GIB) == [Ending.OK, Ending.OUT_OF_MEMORY]


def test_one_that_raises_says_what() -> None:
    (ending,) = run_limited("builtins:int", ["x"], seconds=300, memory_bytes=GIB)
    assert ending.ending is Ending.ERROR
    assert "ValueError" in ending.sentence


def test_a_process_that_never_comes_up_blames_no_item() -> None:
    assert endings("no_such_module:look", 1, 2) == [Ending.HARNESS, Ending.HARNESS]


UNDER_HARD_LIMIT = """
import ctypes, json, resource, sys
from assay_zoo.limited_process import run_limited

PR_CAPBSET_DROP, CAP_SYS_RESOURCE = 24, 24
ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0)  # else the children of root may raise what is set here
name, most, target, items, seconds = json.loads(sys.argv[1])
resource.setrlimit(getattr(resource, name), (most, most))
for one in run_limited(target, items, seconds=seconds, memory_bytes=4 << 30):
    print(json.dumps([one.ending, one.value, one.sentence]))
"""


def under_hard_limit(name: str, most: int, target: str, *items: object, seconds: float = 300.0) -> list[list[object]]:
    """Ending, value and sentence of each item, where the machine has a hard limit."""
    request = json.dumps([name, most, target, items, seconds])
    done = subprocess.run(
        [sys.executable, "-c", UNDER_HARD_LIMIT, request], capture_output=True, text=True, timeout=600, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(("name", "most"), [("RLIMIT_CPU", 100_000), ("RLIMIT_AS", 1 << 30), ("RLIMIT_FSIZE", 1 << 20)])
def test_a_hard_limit_of_the_machine_hinders_nothing_that_keeps_it(name: str, most: int) -> None:
    assert under_hard_limit(name, most, "builtins:len", "a", "ab") == [["ok", 1, ""], ["ok", 2, ""]]


def test_under_a_hard_limit_on_time_each_still_has_its_own() -> None:
    pairs = under_hard_limit("RLIMIT_CPU", 100_000, "builtins:eval", "sum(iter(int, 1))", "1", seconds=1)
    assert [pair[0] for pair in pairs] == [Ending.TIMEOUT, Ending.OK]


def test_one_that_the_machine_gives_less_than_it_may_have_is_not_to_blame() -> None:
    memory = under_hard_limit("RLIMIT_AS", GIB, "builtins:bytearray", 2 * GIB, 1)
    assert memory[0][0] == Ending.HARNESS
    assert f"more than the {GIB} bytes of address space that this machine allows" in str(memory[0][2])
    assert memory[1][0] == Ending.OK
    (time,) = under_hard_limit("RLIMIT_CPU", 3, "builtins:eval", "sum(iter(int, 1))")
    assert (time[0], "killed by the machine" in str(time[2])) == (Ending.HARNESS, True)


def test_an_answer_that_cannot_be_told_is_an_error_of_the_reader() -> None:
    lookeds = run_limited("builtins:eval", ["object()", "int('\\udc80')", "1"], seconds=300, memory_bytes=GIB)
    assert [answer.ending for answer in lookeds] == [Ending.ERROR, Ending.ERROR, Ending.OK]


def test_what_fails_outside_the_look_blames_no_file() -> None:
    spoilt = "__import__('resource').__dict__.update(getrusage=None)"
    lookeds = run_limited("builtins:eval", [spoilt, "1", "2"], seconds=300, memory_bytes=GIB)
    assert [answer.ending for answer in lookeds] == [Ending.OK, Ending.HARNESS, Ending.OK]
    assert "the process that opens files failed, not the file: TypeError" in lookeds[1].sentence
