"""The machine's peaks: what a busy machine takes away is not in those of one thread."""

from __future__ import annotations

import time

import pytest

from assay.worker.timing.roofline_peaks import best_seconds


@pytest.mark.parametrize(("threads", "seconds"), [(1, 1.0), (2, 3.0)])
def test_one_thread_is_timed_by_what_it_computes_and_several_by_the_wall_clock(
    threads: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clocks of a machine on which every call computes for a second, and waits two for a core."""
    now = {"process_time": 0.0, "perf_counter": 0.0}

    def work() -> None:
        now["process_time"] += 1.0
        now["perf_counter"] += 3.0

    for name in now:
        monkeypatch.setattr(time, name, lambda name=name: now[name])
    assert best_seconds(work, threads) == seconds
