"""The machine's peaks: what a busy machine takes away is not in them."""

from __future__ import annotations

import time

import pytest

from assay.worker.timing import roofline_peaks


@pytest.mark.parametrize(("threads", "seconds"), [(1, 4.0), (2, 2.0), (3, 1.6)])
def test_threads_share_what_they_compute_among_those_that_have_a_core(
    threads: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a machine with two cores and a half, on which every call computes for four seconds, and waits longer."""
    now = 0.0

    def work() -> None:
        nonlocal now
        now += 4.0

    monkeypatch.setattr(roofline_peaks, "usable_cores", lambda: 2.5)
    monkeypatch.setattr(time, "process_time", lambda: now)
    assert roofline_peaks.best_seconds(work, threads) == seconds
