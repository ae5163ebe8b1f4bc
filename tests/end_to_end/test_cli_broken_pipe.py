"""A pipe whose reader has left: no traceback, and the exit code is the command's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAYING = "from assay.cli.main import ignore_broken_pipe; import sys; ignore_broken_pipe(); "


def _unread(*arguments: str, unbuffered: bool = False, both: bool = False) -> tuple[int, str]:
    """The exit code of a Python whose standard output nobody reads, and what it said on standard error."""
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            [sys.executable, *(["-u"] if unbuffered else []), *arguments],
            stdout=write,
            stderr=write if both else subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(write)
    return done.returncode, done.stderr or ""


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("size", [1, 100_000])
def test_the_exit_code_is_that_of_the_judgement(size: int, unbuffered: bool) -> None:
    code = f"{SAYING}print('x' * {size}); print('more'); sys.exit(3)"
    assert _unread("-c", code, unbuffered=unbuffered) == (3, "")


def test_standard_error_may_be_unread_too() -> None:
    assert _unread("-c", f"{SAYING}print('x', file=sys.stderr); sys.exit(3)", both=True) == (3, "")


def test_a_command_says_nothing_of_it(tmp_path: Path) -> None:
    assert _unread("-m", "assay", "suite", "list") == (0, "")
    code, said = _unread("-m", "assay", "runs", "--history", str(tmp_path / "none"))
    assert (code, said.count("\n"), said.startswith("assay: there is no history")) == (2, 1, True)


def test_what_is_read_is_whole() -> None:
    code = f"{SAYING}print('x' * 100_000); print('é', file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert (done.stdout, done.stderr) == ("x" * 100_000 + "\n", "é\n")
