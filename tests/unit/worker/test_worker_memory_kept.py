"""What evaluates in numpy keeps the memory of one large array for the next, and gives it back when the job is done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.launch.job_queue import NUMPY_VARIABLES

SCRIPT = """
import resource, sys
import numpy as np
from assay.worker.serve import _resident_bytes, _tidy

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def work():
    for _ in range(20):
        np.ones(1 << 26, np.uint8)

np.ones(5 << 26, np.uint8)
before = faults()
work()
print(faults() - before, _resident_bytes())
_tidy(len(sys.modules))
print(_resident_bytes())
"""


LATE = """
import gc
from assay.worker.serve import _tidy
known = _tidy(0)
before = gc.get_freeze_count()
known = _tidy(known)
assert gc.get_freeze_count() <= before, "nothing was imported"
import wave
assert _tidy(known) > known
assert gc.get_freeze_count() > before
"""


def test_a_library_that_a_later_job_imports_is_not_looked_through_after_each_job() -> None:
    subprocess.run([sys.executable, "-c", LATE], check=True)


@pytest.mark.heavy
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell the memory of a process")
def test_pages_are_asked_for_once_and_given_back_after_the_job() -> None:
    variables = {**os.environ, **NUMPY_VARIABLES, "NUMPY_MADVISE_HUGEPAGE": "0"}
    made = subprocess.run([sys.executable, "-c", SCRIPT], env=variables, capture_output=True, text=True, check=True)
    faults, held, left = map(int, made.stdout.split())
    assert faults < 20 * (1 << 26) // 4096 // 10, "each array asked for its pages again"
    assert held > 5 << 26
    assert left < held - (4 << 26)
