"""What every worker imports before its first job."""

from __future__ import annotations

import subprocess
import sys

START = """
import sys
import assay.worker.tasks
print(*({"onnx", "scipy", "torch", "assay.numerics.oracle.evaluator"} & set(sys.modules)))
"""


def test_a_worker_that_derives_nothing_does_not_import_the_oracle() -> None:
    done = subprocess.run([sys.executable, "-c", START], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == []
