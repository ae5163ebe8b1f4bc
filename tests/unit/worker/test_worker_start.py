"""What every worker imports before its first job."""

from __future__ import annotations

import subprocess
import sys

import pytest

from assay.core.job_base import Job
from assay.worker.dispatch import HANDLERS, _handler_of

START = """
import sys
import assay.worker.dispatch, assay.worker.verify.verify
unwanted = {"onnx", "scipy", "torch", "assay.numerics.oracle.evaluator", "assay.worker.timing.compare_speed", "assay.worker.timing.measure"}
print(*(unwanted & set(sys.modules)))
"""


def test_a_worker_that_derives_nothing_does_not_import_the_oracle() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == []


def test_a_part_of_a_graph_is_asked_for_without_torch() -> None:
    said = "import sys; import assay.worker.regions.verify_region; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout.split() == ["False"]


@pytest.mark.parametrize("task", HANDLERS)
def test_every_task_of_ours_is_a_function_of_this_package(task: type[Job]) -> None:
    assert _handler_of(task).__module__.startswith("assay.worker.")
