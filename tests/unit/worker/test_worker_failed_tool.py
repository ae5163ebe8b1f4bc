"""A program that a library runs and that fails: told by its name, its exit status and its last words, not by its command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.core.outcome import Stage
from assay.errors import Lowering
from assay.judge.words.note_text import note_text
from assay.testing.builders import make_job
from assay.worker.dispatch import _failure
from assay.worker.stages import Stages

SAYS = "import sys; print('/tmp/x1/y/model.json:1: 9: error: no -inf', file=sys.stderr); print(file=sys.stderr); sys.exit({status})"
PROGRAM = Path(sys.executable).name


@contextmanager
def _errors_to(path: Path) -> Iterator[None]:
    """As a worker's own output, which is a file."""
    kept, file = os.dup(2), os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(file)


def _told(tmp_path: Path, code: str, words: str | None, *, captured: bool) -> str:
    """What the report says of a program that fails while lowering; `words` are those of the backend, None where it has none."""
    stages = Stages(lambda stage: None)
    with _errors_to(tmp_path / "errors"):
        try:
            with stages.enter(Stage.LOWER):
                try:
                    subprocess.run([sys.executable, "-c", code], check=True, capture_output=captured)
                except subprocess.CalledProcessError as error:
                    if words is None:
                        raise
                    raise Lowering(words.format(error)) from error
        except Exception as error:
            failed = _failure(make_job(), error, stages)
    return note_text(failed.ended)


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("words", [None, "the compiler failed: {}"])
def test_its_last_line_is_told_without_paths(words: str | None, captured: bool, tmp_path: Path) -> None:
    message = _told(tmp_path, SAYS.format(status=3), words, captured=captured)
    assert message == f"{PROGRAM} ended with exit status 3: model.json:1: 9: error: no -inf"


def test_a_signal_and_silence_are_told(tmp_path: Path) -> None:
    message = _told(tmp_path, "import os; os.kill(os.getpid(), 9)", None, captured=True)
    assert message == f"{PROGRAM} was ended by SIGKILL, and wrote nothing"


def test_a_backend_that_says_why_in_words_of_its_own_keeps_them(tmp_path: Path) -> None:
    words = "there is no infinity in its files"
    assert _told(tmp_path, SAYS.format(status=3), words, captured=False) == words
