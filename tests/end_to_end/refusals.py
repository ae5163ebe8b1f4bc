"""How `assay` refuses what it cannot use."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import command_line

PROGRESS = re.compile(r"^\[ *[0-9.]+ s\] .*\n", re.MULTILINE)


def run_assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Its standard error without lines of progress, of which a slow machine shows more."""
    done = command_line.run_assay(*arguments, cwd=cwd)
    done.stderr = PROGRESS.sub("", done.stderr)
    return done


def check_refused(answer: subprocess.CompletedProcess[str], words: str) -> None:
    """One sentence with these words, and exit 2."""
    assert answer.returncode == 2, (answer.returncode, answer.stdout, answer.stderr)
    assert "Traceback" not in answer.stderr
    assert answer.stderr.startswith("assay: ")
    assert len(answer.stderr.strip().splitlines()) == 1, answer.stderr
    assert words.lower() in answer.stderr.lower(), answer.stderr
