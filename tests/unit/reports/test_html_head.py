"""The head of the page names what a run was judged by."""

from __future__ import annotations

import pytest

from assay.core.policy import LIMITS, Goal
from assay.reports.html_head import _goal


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        (Goal("latency.median_ms", max=5.0), "latency.median_ms at most 5"),
        (Goal("delegates.nodes", equal=0.0, flow="a"), "delegates.nodes exactly 0 for case *, flow a"),
        (Goal("artifact.bytes", max_degradation=0.0), "artifact.bytes worse by at most 0, against run"),
        (
            Goal("max_abs", percent_max_degradation=5.0, against="flow:a"),
            "max_abs worse in percent by at most 5, against flow:a",
        ),
    ],
)
def test_a_goal_is_named_with_its_limit_whatever_its_kind(goal: Goal, text: str) -> None:
    assert _goal(goal) == text


def test_every_kind_of_limit_has_its_words() -> None:
    for name, words in LIMITS.items():
        assert words in _goal(Goal("m", **{name: 1.0}))  # type: ignore[arg-type]
