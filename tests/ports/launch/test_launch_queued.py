"""Launchers that are fed from outside, as on a node of a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, nullcontext

import psutil
import pytest

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.job import NoopJob
from assay.core.model import Model
from assay.core.result import Result
from assay.launch import queued
from assay.launch.pool import FreshProcess, Pool
from assay.launch.queued import QueuedLauncher
from assay.ports import JobSource, Launcher


def _jobs(first: int, count: int) -> list[NoopJob]:
    cases = (Case(f"case-{number}", Model("m", "m.onnx", "")) for number in range(first, first + count))
    return [NoopJob(case) for case in cases]


def test_jobs_that_come_one_after_another_have_one_answer_each_and_nothing_is_left() -> None:
    before = set(psutil.Process().children(recursive=True))
    fed = QueuedLauncher(nullcontext((Pool(1), FreshProcess(1))))
    fed.add(_jobs(0, 20))
    fed.add(_jobs(20, 1), alone=True)
    keys: list[str] = []
    batches = fed.batches()
    while len(keys) < 21:
        keys += [result.job_key for result in next(batches)]
    fed.add(_jobs(21, 2))
    while len(keys) < 23:
        keys += [result.job_key for result in next(batches)]
    fed.close()
    assert next(batches, None) is None
    assert sorted(keys) == sorted(job.key for job in _jobs(0, 23))
    assert set(psutil.Process().children(recursive=True)) <= before


class _Paced:
    """A launcher whose jobs take 4 ms each."""

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        while (job := source.next_ready()) is not None:
            time.sleep(0.004)
            yield empty_result(job)


def test_results_of_short_jobs_come_in_few_batches_and_the_last_is_not_kept_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fed = QueuedLauncher(nullcontext((_Paced(), _Paced())))
    fed.add(_jobs(0, 250))
    sizes: list[int] = []
    batches = fed.batches()
    while sum(sizes) < 250:
        sizes.append(len(next(batches)))
    assert 4 <= len(sizes) <= 25, "two hundred and fifty would cost more than their jobs"
    monkeypatch.setattr(queued, "GATHER_S", 60.0)
    began = time.monotonic()
    fed.add(_jobs(250, 1))
    assert len(next(batches)) == 1
    assert time.monotonic() - began < queued.GATHER_S, "nothing is behind it"
    fed.close()


def test_launchers_are_opened_at_once_and_closed_in_the_thread_that_uses_them() -> None:
    """What they start ends with the thread that has started it."""
    threads: list[int] = []
    opened = threading.Event()

    @contextmanager
    def launchers() -> Iterator[tuple[Launcher, Launcher]]:
        threads.append(threading.get_ident())
        opened.set()
        yield _Paced(), _Paced()
        threads.append(threading.get_ident())

    fed = QueuedLauncher(launchers())
    assert opened.wait(60), "before any job has come"
    fed.close()
    assert len(threads) == 2
    assert len({*threads, threading.get_ident()}) == 2
