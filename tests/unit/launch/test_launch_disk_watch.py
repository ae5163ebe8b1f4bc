"""Who has filled the disk is ended, and nobody else: not where there is room, and not who wrote little."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.core.outcome import Outcome, Stage
from assay.launch import disk_watch
from assay.launch.disk_watch import LEFT_BYTES, DiskWatch
from assay.launch.temp_folder import wait_for_removals
from assay.testing.builders import make_job
from deep_folder import make_deep_folder

MB = 1 << 20


def _lane(folder: Path, pid: int, written: int, *, own: int = 0) -> Any:
    """A worker that wrote so much for its job, and so much to a folder of its own."""
    temporary = folder / f"temporary-{pid}"
    for path, size in ((folder / f"worker-{pid}" / "cache" / "a", written), (temporary / "b", own)):
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(size))
    process = SimpleNamespace(pid=pid, folder=str(temporary))
    return SimpleNamespace(
        pending=SimpleNamespace(job=make_job(scratch=str(folder))), process=process, stage=Stage.LOWER
    )


def _ended(watch: DiskWatch, lanes: Sequence[Any], left: int, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The workers whose jobs end, by their numbers, on a disk of 100 MB where 5 MB are nearly none."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=left, total=100 * MB))
    monkeypatch.setattr(disk_watch, "LOOK_S", 0.0)
    ended = []
    for lane, result in watch.filling(lanes):
        assert result.outcome is Outcome.INFRASTRUCTURE
        assert "its worker had written" in result.detail
        assert "MB are left: it was ended, so that other jobs have room" in result.detail
        ended.append(lane.process.pid)
    return ended


def _write(folder: Path, pid: int, size: int) -> None:
    (folder / f"worker-{pid}" / "more").write_bytes(bytes(size))


def test_on_a_disk_that_is_nearly_full_who_wrote_most_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, lanes = DiskWatch(), [_lane(tmp_path, 1, 10 * MB), _lane(tmp_path, 2, 10 * MB, own=2 * MB)]
    assert _ended(watch, lanes, 10 * MB, monkeypatch) == []
    _write(tmp_path, 1, 2 * MB)
    _write(tmp_path, 2, 4 * MB)
    assert _ended(watch, lanes, 5 * MB, monkeypatch) == []
    _write(tmp_path, 1, 4 * MB)
    _write(tmp_path, 2, 7 * MB)
    assert _ended(watch, lanes, 5 * MB - 1, monkeypatch) == [2]
    wait_for_removals()
    assert not (tmp_path / "worker-2").exists()
    assert (tmp_path / "worker-1" / "cache" / "a").stat().st_size == 10 * MB


def test_a_cache_that_does_not_grow_has_not_filled_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, cache = DiskWatch(), _lane(tmp_path, 1, 30 * MB)
    assert [_ended(watch, [cache], 0, monkeypatch) for _ in range(3)] == [[]] * 3
    filler = _lane(tmp_path, 2, 11 * MB)
    _write(tmp_path, 1, MB // 2)
    assert _ended(watch, [cache, filler], 0, monkeypatch) == [2]


def test_what_earlier_jobs_left_is_not_written_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, lane = DiskWatch(), _lane(tmp_path, 1, 0, own=30 * MB)
    pending, lane.pending = lane.pending, None
    assert _ended(watch, [lane], 0, monkeypatch) == []
    lane.pending = pending
    assert _ended(watch, [lane], 0, monkeypatch) == []


def test_who_wrote_little_or_does_nothing_has_not_filled_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = DiskWatch()
    assert _ended(watch, [_lane(tmp_path, 3, 0)], 0, monkeypatch) == []
    little, idle = _lane(tmp_path, 1, 9 * MB), _lane(tmp_path, 2, 40 * MB)
    idle.pending = None
    assert _ended(watch, [little, idle], 0, monkeypatch) == []
    assert _ended(watch, [], 0, monkeypatch) == []


def test_it_does_not_look_again_at_once_but_where_the_disk_has_become_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, lanes = DiskWatch(), [_lane(tmp_path, 1, 0)]
    looks: list[str] = []
    monkeypatch.setattr(disk_watch, "_written", lambda folder: (looks.append(folder), 0)[1])
    for left, expected in ((20 * MB, 0), (20 * MB - 1, 2), (20 * MB - 1, 2), (0, 4), (0, 4)):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, left=left: SimpleNamespace(free=left, total=100 * MB))
        assert list(watch.filling(lanes)) == []
        assert len(looks) == expected


def test_folders_in_each_other_are_no_trouble(tmp_path: Path) -> None:
    _lane(tmp_path, 1, MB)
    make_deep_folder(tmp_path)
    assert disk_watch._written(str(tmp_path)) >= MB
    subprocess.run(["rm", "-rf", tmp_path / "a"], check=True)


@pytest.mark.parametrize(("total", "limit"), [(420 * MB, 21 * MB), (10_000 * MB, LEFT_BYTES)])
def test_a_small_disk_is_judged_by_its_share(total: int, limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * MB, total=total))
    assert disk_watch._disk("/") == (100 * MB, limit)
    assert LEFT_BYTES >= 100 * MB
