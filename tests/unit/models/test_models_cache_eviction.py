"""The bound on the cache: least recently used first, whole entries, nothing that may be in use."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

import pytest

from assay.models.artifacts import Artifacts, CachedArtifact
from assay.models.cache_eviction import BUSY_S, Entry, compiled, entry_of, evict, size_bytes
from assay.suites.cache import weighed

OLD = time.time() - 2 * BUSY_S


def _entry(folder: Path, name: str, size: int, age_s: float) -> Entry:
    place = folder / name
    (place / "deep").mkdir(parents=True)
    (place / "deep" / "data").write_bytes(bytes(size))
    (place / "mark").write_bytes(b"")
    os.utime(place / "mark", (OLD - age_s, OLD - age_s))
    entry = entry_of(place, used=place / "mark")
    assert entry is not None
    assert entry.size_bytes == size
    return entry


def test_the_least_recently_used_go_until_the_rest_fits(tmp_path: Path) -> None:
    entries = [_entry(tmp_path, name, 100, age) for name, age in (("new", 0), ("old", 20), ("older", 30), ("mid", 10))]
    assert evict(entries, 250) == (2, 200)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mid", "new"]
    assert evict(entries[:1], 250) == (0, 0)


def test_what_was_used_within_the_hour_stays_whatever_the_bound(tmp_path: Path) -> None:
    kept = _entry(tmp_path, "used", 100, 0)
    os.utime(tmp_path / "used" / "mark")
    again = entry_of(*kept.paths, used=tmp_path / "used" / "mark")
    assert again is not None
    assert evict([again], 0) == (0, 0)
    assert (tmp_path / "used").is_dir()


def test_a_file_goes_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "model").write_bytes(bytes(7))
    done = tmp_path / "case.made"
    done.write_bytes(bytes(3))
    os.utime(done, (OLD, OLD))
    entry = entry_of(done, tmp_path / "case", used=done)
    assert entry is not None
    assert evict([entry], 0) == (1, 10)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_a_living_process_holds_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    _entry(tmp_path / "inductor", "worker-0", 100, 0)
    lock = tmp_path / "inductor" / "worker-0" / "lock"
    lock.write_bytes(b"")
    os.utime(lock, (OLD, OLD))
    (entry,) = compiled()
    with lock.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert evict([entry], 0) == (0, 0)
    assert evict([entry], 0) == (1, 100)
    assert not list(compiled())


def test_finding_an_artifact_makes_it_the_last_used(tmp_path: Path) -> None:
    from assay.core.engine_info import EngineInfo
    from assay.core.outcome import Stage
    from assay.models.artifacts import CachedFailure

    known = Artifacts(tmp_path)
    for key in ("aa1", "bb2"):
        known.keep(
            CachedArtifact(key, "c", "f", EngineInfo(), refusal=CachedFailure("no", "", "other", Stage.LOWER)),
            None,
            None,
        )
        os.utime(next(tmp_path.glob(f"{key[:2]}/*/entry.msgpack")), (OLD, OLD))
    assert known.find("aa1") is not None
    evict(list(known.weighed()), 0)
    assert known.find("aa1") is not None
    assert known.find("bb2") is None


def test_weight_is_of_all_files_below(tmp_path: Path) -> None:
    _entry(tmp_path, "one", 5, 0)
    _entry(tmp_path / "one", "two", 6, 0)
    assert size_bytes(tmp_path) == 11


def test_what_killed_processes_left_half_made_is_weighed_and_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    suites = tmp_path / "suites" / "1"
    left = [tmp_path / "artifacts" / "ab" / ".part-x", suites / "operators" / "ab" / "tmp1", suites / "folder" / "abc"]
    for folder in left:
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "data").write_bytes(bytes(100))
        os.utime(folder, (OLD, OLD))
    case = suites / "operators" / "ab" / "case"
    case.mkdir()
    (case / "model").write_bytes(bytes(7))
    case.with_name("case.made.msgpack").write_bytes(bytes(3))
    entries = [*Artifacts(tmp_path / "artifacts").weighed(), *weighed()]
    assert sorted(entry.size_bytes for entry in entries) == [10, 100, 100, 100]
    assert evict(entries, 10) == (3, 300)
    assert [path for path in (*left, case) if path.exists()] == [case]
