"""Launchers that are fed from outside, as on a node of a cluster."""

from __future__ import annotations

import psutil

from assay.core.case import Case
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.launch.pool import FreshProcess, Pool
from assay.launch.queued import QueuedLauncher


def _jobs(first: int, count: int) -> list[NoopJob]:
    cases = (Case(f"case-{number}", Model("m", "m.onnx", "")) for number in range(first, first + count))
    return [NoopJob(case) for case in cases]


def test_jobs_that_come_one_after_another_have_one_answer_each_and_nothing_is_left() -> None:
    before = set(psutil.Process().children(recursive=True))
    fed = QueuedLauncher(Pool(1), FreshProcess(1))
    fed.add(_jobs(0, 20))
    fed.add(_jobs(20, 1), alone=True)
    keys: list[str] = []
    batches = fed.batches()
    while len(keys) < 21:
        keys += [one.job_key for one in next(batches)]
    fed.add(_jobs(21, 2))
    while len(keys) < 23:
        keys += [one.job_key for one in next(batches)]
    fed.close()
    assert next(batches, None) is None
    assert sorted(keys) == sorted(job.key for job in _jobs(0, 23))
    assert set(psutil.Process().children(recursive=True)) <= before
