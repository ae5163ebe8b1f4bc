"""Time that a neighbour takes is not this thread's; time that it sleeps is."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay.worker.timing.scheduler_clock import running_time
from statistical import three_tries

BUSY = "while True: pass"


@three_tries
@pytest.mark.skipif(
    not Path("/proc/thread-self/schedstat").exists(), reason="this kernel does not tell how long a thread waits"
)
def test_what_the_neighbours_take_is_taken_off() -> None:
    """Pinned to one core with three others, most of the wall clock is theirs. What a hypervisor takes besides is told by no
    kernel, so that not all of it need be found."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    neighbours = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(3)]
    try:
        begin, wall, cpu = running_time(), time.perf_counter(), time.thread_time()
        while time.thread_time() - cpu < 0.2:
            pass
        own_s, wall_s, cpu_s = running_time() - begin, time.perf_counter() - wall, time.thread_time() - cpu
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
        os.sched_setaffinity(0, cores)
    assert wall_s > 1.5 * cpu_s
    assert 0.9 * cpu_s <= own_s < cpu_s + 0.5 * (wall_s - cpu_s)


def test_sleep_counts() -> None:
    begin = running_time()
    time.sleep(0.05)
    assert running_time() - begin >= 0.049
