"""The cache of one test is empty, and leaves that of the test before it whole."""

from __future__ import annotations

from pathlib import Path

from own_cache import cache_at


def test_a_cache_is_empty_in_the_same_place_and_the_one_before_it_stays(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    first = cache_at(tmp_path / "cache", folders[0])
    (first / "entry").touch()
    second = cache_at(tmp_path / "cache", folders[1])
    assert second == first
    assert not list(second.iterdir())
    assert (folders[0] / "entry").exists()
