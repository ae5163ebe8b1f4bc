"""How things stand, as a small picture for a readme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import escape
from starlette.responses import Response

from assay.ports.browsing import CellQuery, MatrixJob
from assay.reports.sanitize import one_line
from assay.web import render
from assay.web.format import plural, status, worst_job
from assay.web.now import read_now
from assay.web.site import Site

COLOURS = {
    "pass": "#14692e",
    "xfail": "#14692e",
    "fail": "#ad1f17",
    "xpass": "#ad1f17",
    "error": "#97205f",
    "inconclusive": "#7d4b00",
}
OTHER = "#57606a"
"""All of them dark enough for white letters (WCAG AA, 4.5 to 1)."""
_LETTER, _MARGIN = 6.6, 10
MOST = 500


def badge(site: Site, query: Mapping[str, str]) -> Response:
    """Of everything, of one flow, of one case, or of one cell."""
    word, said = _standing(site, query.get("case", ""), query.get("flow", ""))
    return render.respond(
        svg(one_line(query.get("label", "assay"))[:60], said, word), "image/svg+xml", code=200 if word else 404
    )


def _standing(site: Site, case: str, flow: str) -> tuple[str, str]:
    if not case and not flow:
        now = read_now(site)
        red = {"fail": f"{now.red:,} failing", "pass": "passing"}
        return now.answer, red.get(now.answer, now.answer or "no run")
    asked = CellQuery(case=case, flow=flow, exact=True)
    page = site.moving.get(("badge", asked), lambda: site.store.matrix(asked, 0, MOST, 0, MOST))
    if not page.jobs:
        return "", "unknown"
    return status(worst_job(page.jobs)), _words(page.jobs)


def _words(jobs: Sequence[MatrixJob]) -> str:
    worst = status(worst_job(jobs))
    if worst == "pass":
        return "passing"
    same = sum(status(job) == worst for job in jobs)
    return worst if len(jobs) == 1 else f"{plural(same, 'job')} {worst}"


def svg(label: str, said: str, word: str) -> str:
    """Widths are stated, not left to the reader's font: `textLength` fits the letters into them."""
    left, right = (round(len(text) * _LETTER) + _MARGIN for text in (label, said))
    title = escape(f"{label}: {said}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">'
        f'<title>{title}</title><rect width="{left + right}" height="20" rx="4" fill="{COLOURS.get(word, OTHER)}"/>'
        f'<path d="M4 0h{left - 4}v20h-{left - 4}a4 4 0 0 1-4-4v-12a4 4 0 0 1 4-4z" fill="#2d333b"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{_MARGIN / 2}" y="14" textLength="{left - _MARGIN}">{escape(label)}</text>'
        f'<text x="{left + _MARGIN / 2}" y="14" textLength="{right - _MARGIN}">{escape(said)}</text></g></svg>\n'
    )
