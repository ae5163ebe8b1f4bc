"""A job that the clock ends while others have its core is run again, alone; only a job that never has its time is left undecided."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.testing.act_checks import identity_golden

LIMIT_S = 3.0
WORK_S = 0.5
"""Of each of four calls: two seconds of a core, of three that it may have, and twelve by the clock."""
OTHERS = 20
"""Programs on the same core: beside them a second of work takes twenty."""


def _check(folder: Path, busy_s: float) -> subprocess.CompletedProcess[str]:
    """On one core, which others have from the moment on that the engine runs, for so long."""
    identity_golden(folder)
    command = [
        sys.executable, "-m", "assay", "check", "identity.onnx", "--golden", "golden", "--flow", "faulty", "--only-kind", "verify",
        "--option", "model=identity", "--option", f"work_s={WORK_S}", "--repeat-share", "0", "--timeout", str(LIMIT_S),
    ]  # fmt: skip
    spin = f"import time\nend = time.time() + {busy_s}\nwhile time.time() < end: pass"
    cores, others = os.sched_getaffinity(0), list[subprocess.Popen[bytes]]()
    os.sched_setaffinity(0, {min(cores)})
    try:
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert child.stderr is not None
        errors = ""
        for line in child.stderr:
            errors += line
            if "verifying" in line and not others:
                others += [subprocess.Popen([sys.executable, "-SEc", spin]) for _ in range(OTHERS)]
        assert others, errors
        return subprocess.CompletedProcess(command, child.wait(), child.communicate()[0], errors)
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, cores)


# They want a machine on which nothing else runs: a second try that has its core no more than the first is undecided, rightly.
pytestmark = [pytest.mark.alone, pytest.mark.slow]


def test_a_job_whose_core_others_had_is_run_again_and_passes(tmp_path: Path) -> None:
    """They are gone soon after the clock has ended the first try."""
    process = _check(tmp_path, busy_s=4 * LIMIT_S + 2.0)
    assert process.returncode == 0, process.stdout + process.stderr
    said = " ".join(process.stdout.split())
    assert "it was run again, when no other job of this run was under way" in said, process.stdout


def test_a_job_that_never_has_its_core_is_undecided_and_no_failure(tmp_path: Path) -> None:
    process = _check(tmp_path, busy_s=120.0)
    assert process.returncode == 3, process.stdout + process.stderr
    assert "it was run twice" in " ".join(process.stdout.split()), process.stdout
