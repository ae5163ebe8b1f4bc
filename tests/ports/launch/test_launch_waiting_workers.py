"""Workers that wait inside a launch, while what they gave lets other jobs begin: used again, few, and none that is large."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from assay import plugins
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.launch import staff
from assay.launch.pool import Pool
from assay.models.onnx_file import open_model
from assay.testing.launcher_checks import faulty_job


class _InTurn:
    """Each job is ready when the one before has its result."""

    def __init__(self, jobs: Sequence[Job], *, foreseen: bool = False) -> None:
        self.left, self.running, self.foreseen = list(jobs), False, foreseen

    def next_ready(self) -> Job | None:
        if self.running or not self.left:
            return None
        self.running = True
        return self.left.pop(0)

    def expected(self) -> list[Job]:
        return self.left if self.foreseen else []


def _launched(pool: Pool, jobs: Sequence[Job], between: Callable[[], None] = lambda: None) -> list[Result]:
    source, results = _InTurn(jobs), []
    for result in pool.launch(source):
        results.append(result)
        between()
        source.running = False
    return results


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[psutil.Process]]:
    """Worker processes that were started in this test."""
    seen: list[psutil.Process] = []
    plain = staff.WorkerProcess

    def noted(*arguments: Any) -> Any:
        before = set(psutil.Process().children())
        made = plain(*arguments)
        seen.extend(set(psutil.Process().children()) - before)
        return made

    monkeypatch.setattr(staff, "WorkerProcess", noted)
    yield seen
    assert not any(map(psutil.Process.is_running, seen))


@pytest.fixture
def kinds(linear: Path, golden: Path) -> list[Job]:
    """Of three kinds of worker: in numpy, of onnxruntime, and of the faulty backend."""
    plain = msgspec.structs.replace(
        faulty_job("case", "none", model=open_model(linear), golden=golden), limits=Limits()
    )
    flows = ("reference", "onnxruntime")
    return [*(msgspec.structs.replace(plain, flow=plugins.find_flow(name)) for name in flows), plain]


def test_one_that_waits_does_the_next_job_of_its_kind(started: list[psutil.Process], kinds: list[Job]) -> None:
    numpy, engine, _ = kinds
    results = _launched(Pool(1), [numpy, engine, numpy, engine])
    assert [result.outcome for result in results] == [Outcome.OK] * 4
    assert len(started) == 2


def test_a_core_that_would_be_idle_starts_the_worker_of_the_next_job(
    started: list[psutil.Process], kinds: list[Job]
) -> None:
    source = _InTurn(kinds[:2], foreseen=True)
    launched = Pool(2).launch(source)
    results = [next(launched)]
    assert len(started) == 2, "it starts while the first job runs"
    source.running = False
    assert [result.outcome for result in [*results, *launched]] == [Outcome.OK] * 2
    assert len(started) == 2, "and does the job"


def test_no_worker_starts_ahead_where_no_core_is_idle(started: list[psutil.Process], kinds: list[Job]) -> None:
    launched = Pool(1).launch(_InTurn(kinds[:2], foreseen=True))
    next(launched)
    assert len(started) == 1
    launched.close()


def test_no_more_wait_than_twice_the_workers(started: list[psutil.Process], kinds: list[Job]) -> None:
    lived: list[int] = []
    between = lambda: lived.append(sum(process.is_running() and process.status() != "zombie" for process in started))  # noqa: E731
    _launched(Pool(1), [*kinds, kinds[0]], between)
    assert lived == [1, 2, 2, 2]
    assert len(started) == 4, "the first had waited longest, and had ended"


def test_one_that_is_large_ends_where_another_starts(
    started: list[psutil.Process], kinds: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staff, "LARGEST_BYTES", 0)
    _launched(Pool(1), [kinds[0], kinds[1], kinds[0]])
    assert len(started) == 3
    _launched(Pool(1), [kinds[0], kinds[0]])
    assert len(started) == 4, "it is used again as long as no other is needed"


def test_one_that_died_while_it_waited_costs_no_job(started: list[psutil.Process], kinds: list[Job]) -> None:
    def killed() -> None:
        if len(started) == 1:
            started[0].kill()
            started[0].wait()

    results = _launched(Pool(1), [kinds[0], kinds[0]], killed)
    assert [(result.outcome, result.attempts) for result in results] == [(Outcome.OK, 1)] * 2
    assert len(started) == 2


def test_a_limit_of_memory_is_not_charged_with_what_another_kind_of_job_left(
    started: list[psutil.Process], kinds: list[Job]
) -> None:
    limited = msgspec.structs.replace(kinds[0], limits=Limits(memory_bytes=2_000_000_000))
    _launched(Pool(1), [kinds[0], limited, kinds[0], limited])
    assert len(started) == 2


def test_a_crash_after_other_jobs_is_repeated_in_a_fresh_process(
    started: list[psutil.Process], linear: Path, golden: Path, tmp_path: Path, kinds: list[Job]
) -> None:
    once = faulty_job(
        "shaky", "segfault", model=open_model(linear), golden=golden, options={"once_file": f"{tmp_path}/seen"}
    )
    shaky = msgspec.structs.replace(once, limits=Limits())
    result = _launched(Pool(1), [kinds[2], shaky])[1]
    assert (result.outcome, result.attempts, result.only_after_other_jobs) == (Outcome.CRASH, 2, True)
    assert len(started) == 2
