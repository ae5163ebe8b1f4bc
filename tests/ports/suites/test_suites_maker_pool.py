"""Processes that make cases: forked from one, each on its own, and a death costs no other case and names its own."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import psutil
import pytest

from assay.suites import build_cases, maker_pool
from assay.suites.maker_pool import start_makers
from assay.suites.torch_case import MakeRequest, RandomArg, TorchCase

MAKER = """
    import os, signal, sys, threading
    from pathlib import Path
    from assay.suites.build_torch import prepare, serve

    def make(asked, folder):
        if asked.case.name == "own/kill":
            os.kill(os.getpid(), signal.SIGSEGV)
        raise ValueError(f"{os.getpid()} was asked for {asked.case.name}")

    if os.environ.get("OWN_THREAD"):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
    serve(make, prepare if os.environ.get("OWN_TORCH") else lambda: None)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_maker.py").write_text(textwrap.dedent(MAKER))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "own_maker"


def _asked(folder: Path, name: str) -> MakeRequest:
    return MakeRequest(TorchCase(f"own/{name}", "x", (RandomArg("x", "float32", (2,)),)), 0, str(folder / name))


def test_all_but_the_first_are_forked_from_it_and_end_with_their_requests(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What torch and its exporters import leaves no thread."""
    monkeypatch.setenv("OWN_TORCH", "1")
    started = start_makers(module, 3)
    answers = [maker.make(_asked(tmp_path, f"c{place}")) for place, maker in enumerate(started)]
    words_of_reasons = [answer.reason.split() for answer in answers if answer]
    numbers = [int(words[1]) for words in words_of_reasons]
    assert [words[-1] for words in words_of_reasons] == [f"own/c{place}" for place in range(3)]
    assert [psutil.Process(number).ppid() for number in numbers] == [os.getpid(), numbers[0], numbers[0]]
    assert [maker.end() for maker in started] == ["exit code 0", "", ""]


def test_a_death_names_its_own_case_and_costs_no_other(module: str, tmp_path: Path) -> None:
    asked = [_asked(tmp_path, name) for name in ("a", "b", "kill", "c", "d")]
    answers = {request.case.name: answer for request, answer in build_cases._made(asked, 2, module)}
    assert answers["own/kill"].reason == "the process that exports it died (signal 11)"
    assert not answers["own/kill"].final
    assert all(answers[f"own/{name}"].reason.endswith(f"own/{name}") for name in "abcd")


def test_what_has_threads_is_not_forked_and_nothing_is_lost(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OWN_THREAD", "1")
    asked = [_asked(tmp_path, name) for name in "abc"]
    first, second = start_makers(module, 2)
    assert first.make(asked[0])
    assert second.make(asked[1]) is None
    assert (first.end(), second.end()) == ("exit code 0", "")
    answers = {request.case.name: answer for request, answer in build_cases._made(asked, 2, module)}
    assert all(answers[f"own/{name}"].reason.endswith(f"own/{name}") for name in "abc")


def test_an_import_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hung_maker.py").write_text("import time\ntime.sleep(10_000)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(maker_pool, "IMPORT_LIMIT_S", 1)
    asked = [_asked(tmp_path, name) for name in "abc"]
    answers = [answer for _, answer in build_cases._made(asked, 2, "hung_maker")]
    assert {answer.reason for answer in answers} == {"the process that exports it died (signal 14)"}
    assert not any(answer.final for answer in answers)
