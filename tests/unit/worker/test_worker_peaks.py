"""The machine's peaks: what a busy machine takes away is not in those of one thread."""

from __future__ import annotations

import time

from assay.worker.peaks import best_seconds


def test_one_thread_is_timed_by_what_it_computes_and_several_by_the_wall_clock() -> None:
    def waits() -> None:
        time.sleep(0.01)

    assert best_seconds(waits, 1) < 0.005
    assert best_seconds(waits, 2) >= 0.01
