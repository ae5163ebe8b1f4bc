"""benchmarks/planted_process.py: a case that ends its process is heard of, and what was told before it is kept."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(Path(__file__).parents[2] / "benchmarks"), *sys.path])
    import planted_process

    return planted_process


def test_work_that_comes_to_its_end(planted: Any) -> None:
    heard: list[str] = []
    assert planted.Processes(heard.append).run(lambda tell, *_: tell("all")) is None
    assert heard == ["all"]


def test_a_signal_names_the_case_and_the_fault(planted: Any) -> None:
    heard: list[str] = []

    def work(tell: Any, under_way: Any, used_s: Any) -> None:
        tell("before")
        under_way.case(2, 57)
        under_way.fault(3)
        os.kill(os.getpid(), signal.SIGTERM)

    assert planted.Processes(heard.append).run(work) == planted.Ended(2, 57, 3, "SIGTERM")
    assert heard == ["before"]


def test_the_next_case_has_no_fault_yet(planted: Any) -> None:
    def work(tell: Any, under_way: Any, used_s: Any) -> None:
        under_way.fault(3)
        under_way.case(0, 58)
        os._exit(7)

    assert planted.Processes(print).run(work) == planted.Ended(0, 58, planted.NO_FAULT, "exit 7")


def test_a_case_without_end(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is short only once the case is under way: a busy machine takes long to start a process."""

    def work(tell: Any, under_way: Any, used_s: Any) -> None:
        under_way.case(1, 4)
        tell("under way")
        signal.pause()

    ended = planted.Processes(lambda _: monkeypatch.setattr(planted, "HANG_S", 0.05)).run(work)
    assert (ended.index, ended.how) == (4, "no end in 0 s")
