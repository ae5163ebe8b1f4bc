"""Who has filled the disk is ended, and nobody else: not where there is room, and not who wrote little."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay.core.outcome import Outcome, Stage
from assay.launch import disk_watch
from assay.launch.disk_watch import LEAST_BYTES, LEFT_BYTES, DiskWatch
from assay.launch.temp_folder import wait_for_removals
from assay.testing.builders import make_job

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


def _ended(
    lanes: Sequence[Any], left: int, monkeypatch: pytest.MonkeyPatch, watch: DiskWatch | None = None
) -> list[int]:
    """The workers whose jobs end, by their numbers."""
    monkeypatch.setattr(disk_watch, "LEAST_BYTES", MB)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=left))
    ended = []
    for lane, result in (watch or DiskWatch()).filling(lanes):
        assert result.outcome is Outcome.INFRASTRUCTURE
        assert "MB are left: it was ended, so that other jobs have room" in result.detail
        ended.append(lane.process.pid)
    return ended


def test_on_a_disk_that_is_nearly_full_who_wrote_most_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lanes = [_lane(tmp_path, 1, 2 * MB), _lane(tmp_path, 2, 2 * MB, own=2 * MB), _lane(tmp_path, 3, 0)]
    assert _ended(lanes, LEFT_BYTES, monkeypatch) == []
    assert _ended(lanes, LEFT_BYTES - 1, monkeypatch) == [2]
    wait_for_removals()
    assert not (tmp_path / "worker-2").exists()
    assert (tmp_path / "worker-1" / "cache" / "a").stat().st_size == 2 * MB


def test_who_wrote_little_or_does_nothing_has_not_filled_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    little, idle = _lane(tmp_path, 1, MB // 2), _lane(tmp_path, 2, 4 * MB)
    idle.pending = None
    assert _ended([little, idle], 0, monkeypatch) == []
    assert _ended([], 0, monkeypatch) == []


def test_it_does_not_look_again_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, lanes = DiskWatch(), [_lane(tmp_path, 1, 0)]
    assert _ended(lanes, 0, monkeypatch, watch) == []
    (tmp_path / "worker-1" / "more").write_bytes(bytes(2 * MB))
    assert _ended(lanes, 0, monkeypatch, watch) == []
    monkeypatch.setattr(disk_watch, "LOOK_S", 0.0)
    watch = DiskWatch()
    assert _ended(lanes, 0, monkeypatch, watch) == [1]


def test_there_is_room_left_for_others() -> None:
    assert LEFT_BYTES >= 100 * MB
    assert LEAST_BYTES > LEFT_BYTES
