"""`metric operator number` becomes a goal, and anything else one sentence."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.policy import Goal
from assay.errors import UsageError
from assay.judge.goal_rules import absolute
from assay.judge.requirement import parse_requirement


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("precision.float16 >= 0.8", Goal("precision.float16", min=0.8)),
        ("precision.fp16 >= 0.8", Goal("precision.float16", min=0.8)),
        ("precision.bf16 == 0", Goal("precision.bfloat16", equal=0.0)),
        ("undelegated==0", Goal("undelegated", equal=0.0)),
        (" vs_float.my output.sqnr_db >=  3e1 ", Goal("vs_float.my output.sqnr_db", min=30.0)),
        ("casts <= 4", Goal("casts", max=4.0)),
        ("max_abs<=-1", Goal("max_abs", max=-1.0)),
    ],
)
def test_a_requirement_is_a_goal(text: str, goal: Goal) -> None:
    assert parse_requirement(text) == replace(goal, option="--require")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("undelegated", "--require 'undelegated' is not FIGURE OPERATOR NUMBER; write for example"),
        (">= 3", "is not FIGURE OPERATOR NUMBER"),
        ("", "is not FIGURE OPERATOR NUMBER"),
        ("casts < 4", "< is none of >=, <=, ==; write for example"),
        ("casts != 4", "!= is none of >=, <=, =="),
        ("casts = 4", "= is none of >=, <=, =="),
        ("casts <= few", "'few' is no finite number"),
        ("casts <= nan", "'nan' is no finite number"),
        (
            "precision.flaot16 >= 1",
            "'precision.flaot16' is no metric that is ever recorded; the nearest is 'precision.float16'",
        ),
    ],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_requirement(text)
    assert message in str(caught.value)


def test_exactly_means_exactly() -> None:
    goal = Goal("undelegated", equal=0.0)
    assert absolute(goal, 0.0) is None
    for off in (1.0, -1e-9, float("nan")):
        complaint = absolute(goal, off)
        assert complaint is not None
        assert "allowed is exactly 0" in complaint.text
