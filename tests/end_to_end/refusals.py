"""`assay` in a process of its own, and how it refuses what it cannot use."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PROGRESS = re.compile(r"^\[ *[0-9.]+ s\] .*\n", re.MULTILINE)


def run_assay(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Its standard error without lines of progress, of which a slow machine shows more."""
    done = subprocess.run(
        [sys.executable, "-m", "assay", *arguments], cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )
    done.stderr = PROGRESS.sub("", done.stderr)
    return done


def check_refused(answer: subprocess.CompletedProcess[str], words: str) -> None:
    """One sentence with these words, and exit 2."""
    assert answer.returncode == 2, (answer.returncode, answer.stdout, answer.stderr)
    assert "Traceback" not in answer.stderr
    assert answer.stderr.startswith("assay: ")
    assert len(answer.stderr.strip().splitlines()) == 1, answer.stderr
    assert words.lower() in answer.stderr.lower(), answer.stderr
