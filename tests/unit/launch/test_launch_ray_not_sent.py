"""An error is excused where it names a file that a node did not get, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome
from assay.core.result import VerifyResult
from assay.launch.ray.not_sent import without_file
from assay.launch.ray.sharing import MISSING, is_not_installed
from assay.testing.builders import make_result

FILES = ("data/words.txt", "data/my words.txt", "data/a[1].txt", "tuning.json")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")


def _answer(detail: str, log: str = "", outcome: Outcome = Outcome.ERROR, cause: Cause = Cause.NONE) -> VerifyResult:
    return replace(make_result(kind="verify"), outcome=outcome, cause=cause, detail=detail, log=log)


@pytest.mark.parametrize(
    ("name", "detail", "log"),
    [
        ("data/words.txt", "FileNotFoundError: [Errno 2] No such file or directory: 'data/words.txt'", ""),
        ("data/words.txt", "Load model from data/words.txt failed: File doesn't exist", ""),
        ("data/words.txt", "cannot open file=data/words.txt: it does not exist", ""),
        ("data/my words.txt", "it doesn't go on: could not find 'data/my words.txt'", ""),
        ("data/a[1].txt", 'No such file or directory: "data/a[1].txt"', ""),
        ("data/words.txt", "the engine failed", "Load 'data/words.txt' failed: File doesn't exist\n"),
    ],
)
def test_a_file_that_was_not_sent_is_named_and_the_model_is_not_blamed(name: str, detail: str, log: str) -> None:
    result = without_file(_answer(detail, log), ())
    assert result.outcome is Outcome.UNAVAILABLE
    advice = f'{name} was not sent to this node: name it under [launch] in assay.toml, send = ["{name}"]'
    assert result.detail == f"{advice} ({detail})", "what the job said stays"


@pytest.mark.parametrize(
    "detail",
    [
        "No such file or directory: 'other.txt'",
        "No such file or directory: '/etc/passwd'",
        "the answers of data/words.txt differ",
        "No such file or directory: 'data'",
    ],
)
def test_a_file_that_is_nowhere_is_the_fault_of_the_model(detail: str) -> None:
    assert without_file(_answer(detail), ()) == _answer(detail)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.ERROR])
def test_only_an_error_is_excused(outcome: Outcome) -> None:
    """A wrong answer, a crash and a hang have reasons of their own, whatever an engine printed of its files."""
    answer = _answer("No such file: 'tuning.json'", "W: 'tuning.json' not found\n", outcome, Cause.SIGNAL)
    assert without_file(answer, ()) == answer


def test_a_warning_of_the_log_excuses_no_error() -> None:
    answer = _answer("the engine refused it", "W: tuning.json not found, default tuning is used\n")
    assert without_file(answer, ()) == answer


def test_no_node_is_asked_instead_of_one_without_a_file() -> None:
    """It would take the node out for all jobs of that kind, and no other node that shares no disk has the file."""
    missed = without_file(_answer("No such file or directory: 'data/words.txt'"), ())
    assert missed.outcome is Outcome.UNAVAILABLE
    assert not is_not_installed(missed)
    assert all(is_not_installed(replace(missed, cause=cause)) for cause in MISSING)
    assert not is_not_installed(_answer("not there", cause=Cause.MISSING_LIBRARY))
