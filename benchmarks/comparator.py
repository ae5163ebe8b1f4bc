"""Bytes of both arrays compared per second, all metrics, beside numpy's copy and assert_allclose on the same arrays."""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from assay.core.case import Contract
from assay.numerics.compare import compare_outputs


def cpu_name() -> str:
    """The model name that Linux knows, else what Python knows."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def best(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Wall and CPU seconds of the fastest round; the first, which faults pages in, does not count."""
    work()
    seen = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        seen.append((time.perf_counter() - wall, time.process_time() - cpu))
    return min(seen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256, help="of each array")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    count = arguments.megabytes * 2**20 // 4
    rng = np.random.default_rng(0)
    expected = rng.standard_normal(count, dtype=np.float32)
    noisy = expected + rng.standard_normal(count, dtype=np.float32) * np.float32(1e-6)
    equal, copy = expected.copy(), np.empty_like(expected)

    def ours(actual: np.ndarray, threads: int) -> Callable[[], object]:
        return lambda: compare_outputs([{"o": actual}], [{"o": expected}], Contract(), threads=threads)

    def theirs() -> None:
        np.testing.assert_allclose(noisy, expected, rtol=1e-4, atol=1e-4)

    print(f"{cpu_name()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}, numpy {np.__version__}")
    print(f"two float32 arrays of {arguments.megabytes} MB, best of {arguments.rounds}")
    print(f"{'':34}{'GB/s':>8}{'wall s':>9}{'CPU s':>8}{'x assert_allclose':>19}")
    base, _ = best(theirs, 2)
    rows = [
        ("assay, all metrics, 1 thread", ours(noisy, 1)),
        ("assay, all metrics, 2 threads", ours(noisy, 2)),
        ("assay, all metrics, default", ours(noisy, 0)),
        ("assay, equal arrays, default", ours(equal, 0)),
        ("np.copyto", lambda: np.copyto(copy, expected)),
        ("np.testing.assert_allclose", theirs),
    ]
    for name, work in rows:
        wall, cpu = best(work, 2 if work is theirs else arguments.rounds)
        rate = 2 * expected.nbytes / wall / 1e9
        print(f"{name:34}{rate:8.2f}{wall:9.3f}{cpu:8.3f}{base / wall:19.1f}")


if __name__ == "__main__":
    main()
