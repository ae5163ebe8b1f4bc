"""Where a model stands as a small picture for a readme, and as the JSON that shields.io draws one from."""

from __future__ import annotations

from assay.reports.sanitize import one_line
from assay.web.badge import COLOURS, OTHER, svg
from assay_zoo.decision import Answer
from assay_zoo.robot.pages.format import standing
from assay_zoo.robot.queue_records import Submission

LABEL = "model zoo"
_WORDS = {Answer.PROMOTE: "pass", Answer.DECLINE: "fail", Answer.PERSON: "inconclusive"}
"""Of the dashboard, for the colours."""


def message(newest: Submission | None) -> str:
    """In one or two words where the newest submission of a model stands."""
    if newest is None:
        return "not submitted"
    return "promoted" if newest.promoted else one_line(standing(newest))


def _word(newest: Submission | None) -> str:
    return _WORDS.get(Answer(newest.answer), "") if newest and newest.answer in list(Answer) else ""


def as_json(newest: Submission | None) -> dict[str, object]:
    """https://shields.io/badges/endpoint-badge"""
    colour = COLOURS.get(_word(newest), OTHER)
    return {"schemaVersion": 1, "label": LABEL, "message": message(newest), "color": colour}


def as_svg(newest: Submission | None) -> str:
    return svg(LABEL, message(newest), _word(newest))
