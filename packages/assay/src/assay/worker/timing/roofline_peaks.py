"""What this machine can do at most: `python -m assay.worker.timing.roofline_peaks THREADS` prints bytes and floating operations per second.

A copy as in STREAM (McCalpin, 1995): arrays far larger than the last cache, each byte read and written once, so that twice the
size is moved. A product of square float32 matrices: 2 n^3 operations. The best of several, as for every peak. The number of
threads of the product is that of numpy's BLAS: whoever starts this sets OPENBLAS_NUM_THREADS, MKL_NUM_THREADS and OMP_NUM_THREADS.
They are timed by the process's CPU time, shared by as many threads as have a core: by the wall clock a busy machine had a seventh of
its peak, and two threads less than one. Peaks of more threads than cores are those of the cores.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from assay.worker.timing.cpu_quota import usable_cores
from assay.worker.timing.operator_benchmark import last_cache_bytes

REPEATS = 9
WIDTH = 1536
MOST_BYTES = 2**28


def main() -> None:
    """One line of JSON."""
    threads = int(sys.argv[1])
    print(json.dumps({"copy_bytes_per_s": copy_peak(threads), "gemm_flops_per_s": gemm_peak(threads)}))


def copy_peak(threads: int) -> float:
    """Bytes read and written per second by so many threads, each with its own part."""
    size = min(4 * last_cache_bytes(), MOST_BYTES) // 8
    source, target = np.ones(size), np.zeros(size)
    parts = [slice(size * n // threads, size * (n + 1) // threads) for n in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        seconds = best_seconds(
            lambda: list(pool.map(lambda part: np.copyto(target[part], source[part]), parts)), threads
        )
    return 2 * source.nbytes / seconds


def gemm_peak(threads: int) -> float:
    """Floating operations per second of numpy's product, on as many threads as its library has."""
    a = np.random.default_rng(0).standard_normal((WIDTH, WIDTH)).astype(np.float32)
    made = np.empty_like(a)
    return float(2 * WIDTH**3 / best_seconds(lambda: np.matmul(a, a, out=made), threads))


def best_seconds(work: Callable[[], object], threads: int) -> float:
    """The least of several, as if each thread that has a core had it to itself."""
    at_once = min(float(threads), usable_cores())
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        work()
        seconds.append((time.process_time() - begin) / at_once)
    return min(seconds)


if __name__ == "__main__":
    main()
