"""A worker and all that descends from it in one group of the kernel's, where one may be made."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.launch import worker_group
from assay.launch.process_tree import is_dead
from assay.launch.worker_group import WorkerGroup, remove_left_groups


@pytest.fixture
def shell() -> Iterator[subprocess.Popen[str]]:
    """What it is told it starts in another session, without a parent and without a variable."""
    command = "while read word; do (setsid env -i sleep 3600 & echo $!); done"
    child = subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield child
    child.kill()
    child.communicate()


def grouped(shell: subprocess.Popen[str]) -> WorkerGroup:
    group = WorkerGroup(shell.pid)
    if group.folder is None:
        pytest.skip("no cgroup of version 2 may be made here")
    return group


def started(shell: subprocess.Popen[str]) -> int:
    assert shell.stdin is not None
    assert shell.stdout is not None
    shell.stdin.write("start\n")
    shell.stdin.flush()
    return int(shell.stdout.readline())


def closed_in_time(group: WorkerGroup) -> bool:
    end = time.monotonic() + 60.0
    while not (closed := group.close()) and time.monotonic() < end:
        time.sleep(0.001)
    return closed


def test_who_leaves_everything_is_found_and_ended(shell: subprocess.Popen[str]) -> None:
    group = grouped(shell)
    stray = started(shell)
    assert {shell.pid, stray} <= set(group.members())
    assert not group.close(), "they live"
    group.kill()
    assert closed_in_time(group)
    assert is_dead(stray)
    assert group.members() == []


def test_what_a_driver_left_that_was_killed_is_ended(
    shell: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = grouped(shell)
    assert ours.folder is not None
    remove_left_groups()
    assert ours.folder.exists(), "its driver lives"
    ours.kill()
    assert closed_in_time(ours)
    ended = subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE)
    _, born, place = worker_group.own_name().split("-")
    monkeypatch.setattr(worker_group, "own_name", lambda: f"{ended.pid}-{int(born) - 1}-{place}")
    group = WorkerGroup(ended.pid)
    assert group.folder is not None
    remove_left_groups()
    assert ended.wait(60.0) == -9
    remove_left_groups()
    assert not group.folder.exists()
    ended.communicate()


def test_without_a_place_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (None, tmp_path):
        monkeypatch.setattr(worker_group, "_place", lambda place=place: place)
        group = WorkerGroup(1)
        assert group.folder is None
        assert group.members() == []
        group.kill()
        assert group.close()
    assert list(tmp_path.iterdir()) == []
