"""What becomes of a server in several processes where they end as soon as they begin."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

START = """
import os, signal, sys, time
from assay.errors import UsageError
from assay.web import processes
def serve():
    with open({begun!r}, "a") as begun:
        begun.write("x")
"""


def run(folder: Path, serve: str, setting: str = "") -> tuple[int, str, int]:
    """Exit code, what it says, and how many processes began."""
    begun = folder / "begun"
    script = (
        START.format(begun=str(begun))
        + textwrap.indent(serve, "    ")
        + f"\n{setting}\nprocesses.in_processes(2, serve)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    return ended.returncode, ended.stderr, len(begun.read_text()) if begun.exists() else 0


def test_processes_that_a_signal_ends_at_once_are_not_started_for_ever(tmp_path: Path) -> None:
    before = time.monotonic()
    code, words, begun = run(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)", "processes.PAUSE_S = 0.05")
    assert code == 1
    assert re.search(r"process \d+ ended by signal 9 \(Killed\)", words), words
    assert "signals ended 6 processes in a row" in words
    assert 6 <= begun <= 12
    assert time.monotonic() - before > 0.05 * (1 + 2 + 4 + 8 + 16)


def test_a_defect_is_said_whole(tmp_path: Path) -> None:
    code, words, _ = run(tmp_path, "{}['no such key']")
    assert code == 1
    assert "Traceback" in words
    assert "KeyError: 'no such key'" in words


@pytest.mark.parametrize(("raised", "code"), [("UsageError('no history')", 2), ("SystemExit(3)", 3)])
def test_the_exit_code_of_a_process_is_that_of_the_server(tmp_path: Path, raised: str, code: int) -> None:
    ended, words, _ = run(tmp_path, f"raise {raised}")
    assert ended == code
    assert "Traceback" not in words


def test_a_signal_while_a_process_is_forked_ends_it(tmp_path: Path) -> None:
    """The signal comes in the child before the child has handlers of its own."""
    fork = """
fork = os.fork
def forked():
    pid = fork()
    if not pid:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.2)
    return pid
processes.os.fork, processes.PAUSE_S = forked, 0.05
"""
    code, words, begun = run(tmp_path, "time.sleep(60)", fork)
    assert (code, begun) == (1, 0)
    assert "ended by signal 15" in words
