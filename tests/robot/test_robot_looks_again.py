"""When the robot looks at everything again."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from assay_zoo.robot import poll_submissions
from assay_zoo.robot.poll_submissions import SubmissionPoller


@pytest.mark.parametrize(
    ("why", "looks"), [("many", [0.0, 5.0, 605.0]), ("doubted", [0.0, 5.0, 605.0]), ("", [0.0, 600.0])]
)
def test_it_looks_again_soon_once_where_there_is_a_reason(
    why: str, looks: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every second it asks whether 5 s, or the 600 of the source, are over."""
    now_s = 0.0

    def wait(seconds: float) -> None:
        nonlocal now_s
        now_s += seconds

    monkeypatch.setattr(poll_submissions, "time", SimpleNamespace(monotonic=lambda: now_s))
    idle = SimpleNamespace(poll_s=600.0, database=SimpleNamespace(tidy=lambda: None))
    each = cast(Any, idle)
    poller = SubmissionPoller(each, each, each, wake_workers=lambda: None)
    times: list[float] = []

    def look_everywhere() -> None:
        times.append(now_s)
        poller._doubted.clear()
        poller._soon = poller._soon or (why == "many" and len(times) == 1)
        if why == "doubted" and len(times) == 1:
            poller.look_again("a" * 40)

    poller.look_everywhere = look_everywhere  # type: ignore[method-assign]
    poller.run(cast(Any, SimpleNamespace(is_set=lambda: now_s > 700, wait=wait)))
    assert times == looks
