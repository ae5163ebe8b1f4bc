"""Where a model stands as a small picture for a readme, and as the JSON that shields.io draws one from."""

from __future__ import annotations

from markupsafe import escape

from assay.reports.sanitize import one_line
from assay_zoo.decision import Answer
from assay_zoo.robot.pages.format import standing
from assay_zoo.robot.records import Submission

LABEL = "model zoo"
COLOURS = {Answer.PROMOTE: "#14692e", Answer.DECLINE: "#ad1f17", Answer.PERSON: "#7d4b00"}
OTHER = "#57606a"
"""All of them dark enough for white letters (WCAG AA, 4.5 to 1)."""
_LETTER, _MARGIN, _HEIGHT = 6.6, 10, 20


def message(newest: Submission | None) -> str:
    """In one or two words where the newest submission of a model stands."""
    if newest is None:
        return "not submitted"
    return "promoted" if newest.promoted else one_line(standing(newest))


def colour(newest: Submission | None) -> str:
    return COLOURS.get(Answer(newest.answer), OTHER) if newest and newest.answer in list(Answer) else OTHER


def as_json(newest: Submission | None) -> dict[str, object]:
    """https://shields.io/badges/endpoint-badge"""
    return {"schemaVersion": 1, "label": LABEL, "message": message(newest), "color": colour(newest)}


def as_svg(newest: Submission | None) -> str:
    """Widths are stated, not left to the reader's font: `textLength` fits the letters into them."""
    told = message(newest)
    left, right = (round(len(text) * _LETTER) + _MARGIN for text in (LABEL, told))
    title = escape(f"{LABEL}: {told}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{_HEIGHT}" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<rect width="{left + right}" height="{_HEIGHT}" rx="4" fill="{colour(newest)}"/>'
        f'<path d="M4 0h{left - 4}v{_HEIGHT}h-{left - 4}a4 4 0 0 1-4-4v-12a4 4 0 0 1 4-4z" fill="#2d333b"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{_MARGIN / 2}" y="14" textLength="{left - _MARGIN}">{escape(LABEL)}</text>'
        f'<text x="{left + _MARGIN / 2}" y="14" textLength="{right - _MARGIN}">{escape(told)}</text></g></svg>\n'
    )
