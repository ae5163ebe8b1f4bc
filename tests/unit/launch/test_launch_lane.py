"""A process that does nothing at all is told from one that computes, waits for a core, or stood still together with who looks."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assay.launch import lane
from assay.launch.lane import STILL_S, Stillness


@pytest.mark.parametrize(
    ("work", "step_s", "stuck"),
    [
        (["a"], 1.0, True),
        (["a", "b"], 1.0, False),
        (["a"] * 10 + ["b"], 1.0, False),
        (["a"], 0.02, True),
    ],
    ids=["nothing", "computes", "computes now and then", "looked at often"],
)
def test_only_who_does_nothing_is_stuck(
    monkeypatch: pytest.MonkeyPatch, work: Sequence[str], step_s: float, stuck: bool
) -> None:
    looks: list[str] = []

    def next_work(_pid: int) -> str:
        looks.append(work[len(looks) % len(work)])
        return looks[-1]

    monkeypatch.setattr(lane, "_work", next_work)
    still, now = Stillness(0.0), 0.0
    said = False
    while now < 2 * STILL_S + 2:
        now += step_s
        said = still.is_stuck(7, now)
        assert not said or now > STILL_S
    assert said is stuck


def test_time_in_which_nobody_looked_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "_work", lambda _pid: "a")
    still = Stillness(0.0)
    assert [still.is_stuck(7, now) for now in (1.0, 361.0, 721.0)] == [False] * 3


def test_another_process_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has forked it: what is waited for is the worker now."""
    monkeypatch.setattr(lane, "_work", lambda _pid: "a")
    still = Stillness(0.0)
    assert not any(still.is_stuck(int(now / 10), now) for now in range(1, 100))
