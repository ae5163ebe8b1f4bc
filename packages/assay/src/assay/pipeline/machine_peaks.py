"""The machine's peaks, measured in a process of their own before operators are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from assay.core.machine import Machine
from assay.errors import WorkerFailed

LIBRARIES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
PINS = ("OPENBLAS_", "MKL_", "BLIS_")
"""Of libraries of linear algebra. They can hold one back from the machine's best kernels (OPENBLAS_CORETYPE, MKL_CBWR), and engines
bring kernels of their own: with OpenBLAS as on Haswell a machine with AVX-512 had half its peak, and operators twice the roofline."""
TIMEOUT_S = 300.0


def with_roofline_peaks(machine: Machine, threads: Iterable[int]) -> Machine:
    """The machine with what a copy and a product reach on so many threads. Raises WorkerFailed."""
    peaks = {count: _peaks(count) for count in sorted(set(threads))}
    return replace(
        machine,
        copy_bytes_per_s={count: peak["copy_bytes_per_s"] for count, peak in peaks.items()},
        gemm_flops_per_s={count: peak["gemm_flops_per_s"] for count, peak in peaks.items()},
    )


def environment(variables: Mapping[str, str], threads: int) -> dict[str, str]:
    """The variables without those that choose a library's kernels, and with the number of its threads."""
    free = {name: value for name, value in variables.items() if not name.startswith(PINS)}
    return {**free, **dict.fromkeys(LIBRARIES, str(threads))}


def _peaks(threads: int) -> dict[str, float]:
    command = [sys.executable, "-P", "-m", "assay.worker.timing.roofline_peaks", str(threads)]
    try:
        done = subprocess.run(
            command, env=environment(os.environ, threads), capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        )
        return {name: float(value) for name, value in json.loads(done.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise WorkerFailed(f"the peaks of this machine cannot be measured ({error})") from error
