"""What somebody may not write to is a sentence, and is read all the same."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import assay

_DROP_FROM_BOUND = 24  # PR_CAPBSET_DROP
_IGNORES_RIGHTS = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH


def _as_others() -> None:
    """The superuser is held to what the files say, too; nobody else needs to be."""
    libc = ctypes.CDLL(None)
    for right in _IGNORES_RIGHTS:
        libc.prctl(_DROP_FROM_BOUND, right, 0, 0, 0)


def _run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_as_others,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def read_only(linear: Path, tmp_path: Path) -> Path:
    """A history with one run."""
    history = tmp_path / "history"
    assay.check(linear, flows=["onnxruntime"], only_kind="verify", history=history)
    for folder, _, files in os.walk(history):
        for name in files:
            (Path(folder) / name).chmod(0o444)
        Path(folder).chmod(0o555)
    return history


def test_a_history_that_nobody_may_write_to_is_read_and_not_changed(linear: Path, read_only: Path) -> None:
    before = sorted(read_only.iterdir())
    for command in (["report"], ["runs"], ["rejudge", "last"]):
        code, out, error = _run(*command, "--history", str(read_only))
        assert (code, "1 passed" in out or "PASS" in out) == (0, True), error
    assert _run("baseline", "list", "--history", str(read_only)) == (
        0,
        "no baseline yet: assay baseline set MODEL --flow FLOW --reason WHY\n",
        "",
    )
    assert sorted(read_only.iterdir()) == before
    code, _, error = _run("check", str(linear), "--flow", "onnxruntime", "--history", str(read_only))
    assert (code, error.splitlines()[-1]) == (
        4,
        f"assay: {read_only}/history.db is read-only: make the file and its folder writable, or name another --history",
    )


def test_a_golden_where_nobody_may_write_is_a_sentence(linear: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    golden = tmp_path / "closed" / "golden"
    code, out, error = _run(
        "golden", "record", str(linear), str(golden), "--reason", "x", "--history", str(tmp_path / "h")
    )
    assert (code, out) == (2, "")
    assert error.splitlines()[-1] == (
        f"assay: {golden}: Permission denied; change its permissions or those of its folder, or name another"
    )
    assert "Traceback" not in error
