"""Each shard is begun by one task, whatever the tasks do at once, and by the one that is started again."""

from __future__ import annotations

import threading
from itertools import islice
from pathlib import Path

import pytest

from assay.launch import slurm_claims
from assay.launch.slurm_claims import Claims, seconds_left

HOUR = 3600.0


@pytest.fixture(autouse=True)
def hour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm_claims, "seconds_left", lambda task: HOUR)


def _task(folder: Path, number: int, total: int = 8, array: str = "7") -> Claims:
    return Claims(folder, total, array, number)


def test_a_task_does_its_own_shard_and_then_those_that_nobody_has_begun(tmp_path: Path) -> None:
    first, second = _task(tmp_path, 1, 4).shards(), _task(tmp_path, 2, 4).shards()
    assert [next(first), next(second), next(first), next(second)] == [1, 2, 4, 3]
    assert list(first) == list(second) == []
    assert list(_task(tmp_path, 3, 4).shards()) == []


def test_many_tasks_at_once_do_each_shard_once(tmp_path: Path) -> None:
    total, begun = 40, []
    start = threading.Barrier(8)

    def run(number: int) -> None:
        start.wait()
        begun.extend(_task(tmp_path, number, total).shards())

    tasks = [threading.Thread(target=run, args=(number,)) for number in range(1, 9)]
    for task in tasks:
        task.start()
    for task in tasks:
        task.join()
    assert sorted(begun) == list(range(1, total + 1))


def test_a_task_that_is_started_again_does_what_it_had_begun(tmp_path: Path) -> None:
    assert list(islice(_task(tmp_path, 1).shards(), 3)) == [1, 8, 7]
    (tmp_path / "8.run").touch()
    assert list(islice(_task(tmp_path, 2).shards(), 2)) == [2, 6]
    assert list(islice(_task(tmp_path, 1).shards(), 3)) == [1, 7, 5]


def test_a_shard_is_free_in_the_next_array_where_its_results_did_not_come(tmp_path: Path) -> None:
    assert list(_task(tmp_path, 1, 3).shards()) == [1, 3, 2]
    (tmp_path / "1.run").touch()
    (tmp_path / "3.run").touch()
    assert list(_task(tmp_path, 2, 3, array="8").shards()) == [2]


def test_no_shard_is_begun_that_slurm_would_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 100.0, 100.0, 150.0))
    monkeypatch.setattr(slurm_claims.time, "monotonic", lambda: next(clock))
    left = iter((2 * 100 + 31.0, 2 * 100 + 29.0))
    # The number of a job may be that of the array: Slurm answers with a line for each task then.
    monkeypatch.setattr(slurm_claims, "seconds_left", lambda task: next(left, 0.0) if task == "7_1" else 0.0)
    assert list(_task(tmp_path, 1, 4).shards()) == [1, 4]
    assert not (tmp_path / "3.of-7").exists(), "another task may begin it"


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [("59:30", 3570.0), ("1:00:01", 3601.0), ("2-00:00:00", 172800.0), ("UNLIMITED", float("inf")), ("INVALID", 0.0)],
)
def test_the_time_that_slurm_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, seconds: float
) -> None:
    (tmp_path / "squeue").write_text(f"#!/bin/sh\n[ $2 = --jobs=12_3 ] && echo {answer}\n")
    (tmp_path / "squeue").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert seconds_left("12_3") == seconds
    (tmp_path / "squeue").unlink()
    assert seconds_left("12_3") == 0.0
