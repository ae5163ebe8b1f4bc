"""The machine's peaks, measured in a process of their own before operators are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable

from msgspec.structs import replace

from assay.core.machine import Machine
from assay.errors import WorkerFailed

LIBRARIES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
TIMEOUT_S = 300.0


def with_peaks(machine: Machine, threads: Iterable[int]) -> Machine:
    """The machine with what a copy and a product reach on so many threads. Raises WorkerFailed."""
    found = {count: _peaks(count) for count in sorted(set(threads))}
    return replace(
        machine,
        copy_bytes_per_s={count: one["copy_bytes_per_s"] for count, one in found.items()},
        gemm_flops_per_s={count: one["gemm_flops_per_s"] for count, one in found.items()},
    )


def _peaks(threads: int) -> dict[str, float]:
    command = [sys.executable, "-m", "assay.worker.peaks", str(threads)]
    environment = {**os.environ, **dict.fromkeys(LIBRARIES, str(threads))}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
        return {name: float(value) for name, value in json.loads(done.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise WorkerFailed(f"the peaks of this machine cannot be measured ({error})") from error
