"""Limits of time on a slower machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.launch import machine_speed
from assay.launch.machine_speed import LONGEST, limit_scale, measured, times_slower


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    times_slower.cache_clear()


@pytest.mark.parametrize(
    ("slower", "scale"),
    [(0.4, 1.0), (1.0, 1.0), (1.24, 1.0), (1.25, 1.3), (2.0, 2.0), (2.01, 2.1), (7.95, 8.0), (500.0, LONGEST)],
)
def test_a_limit_grows_with_the_time_that_the_same_work_takes_and_never_shrinks(slower: float, scale: float) -> None:
    assert limit_scale(slower) == scale


def test_it_is_processor_time_and_this_machine_is_no_other_one() -> None:
    """Any machine of the last ten years is within this."""
    assert 0.1 < measured() < 6.0


def test_the_least_that_was_seen_is_kept_for_this_machine_and_a_broken_file_counts_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.setattr(machine_speed, "_seconds", lambda _: 3 * 6.5e-3)
    slow = limit_scale(measured())
    assert 2.9 < slow < 4.0
    monkeypatch.setattr(machine_speed, "_seconds", lambda _: 30 * 6.5e-3)
    assert times_slower() == slow, "the busier moment is not believed"
    times_slower.cache_clear()
    (tmp_path / "machine-speed.json").write_bytes(b"\xff")
    assert times_slower() == LONGEST
    times_slower.cache_clear()
    monkeypatch.setattr(machine_speed.platform, "node", lambda: "another")
    monkeypatch.setattr(machine_speed, "_seconds", lambda _: 1e-3)
    assert times_slower() == 1.0
