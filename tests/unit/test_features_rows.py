"""benchmarks/features.py ends what it began."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROW = """
import sys
from pathlib import Path
from features import run_line
with open("log", "w") as log:
    print(run_line(sys.argv[1], Path.cwd(), log, float(sys.argv[2])))
"""
LINE = (
    "sleep 600 & echo $! > child; setsid --fork bash -c 'echo $$ > other; exec sleep 600'; "
    "until test -s other; do sleep 0.01; done; "
)
"""A child, and one in a session of its own, as the robot's process and each worker are."""


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize(("end", "limit_s", "code"), [("wait", "0.5", -1), ("exit 3", "60", 3)])
def test_nothing_that_a_row_started_outlives_it(tmp_path: Path, end: str, limit_s: str, code: int) -> None:
    words = [sys.executable, "-c", ROW, LINE + end, limit_s]
    variables = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    ended = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True, timeout=120)
    assert ended.stdout == f"{code}\n", ended.stderr
    assert [name for name in ("child", "other") if _lives(int((tmp_path / name).read_text()))] == []
