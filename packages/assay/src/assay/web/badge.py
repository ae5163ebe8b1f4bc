"""How things stand, as a small picture for a readme."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import count

from markupsafe import escape
from starlette.responses import Response

from assay.ports.browsing import CellQuery, MatrixJob
from assay.reports.rows import SEVERITY
from assay.reports.sanitize import one_line
from assay.web import responses
from assay.web.format import plural, status
from assay.web.now import WELL, read_now
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
_VERBS = {
    "pass": "passed",
    "xfail": "failed as expected",
    "fail": "failed",
    "xpass": "passed unexpectedly",
    "error": "ended in an error",
    "skip": "skipped",
}
"""What a number of jobs did, by their verdict; one that is not here is said as it is: `2 jobs inconclusive`."""
AT_ONCE = 500
"""Flows of a case that are read together."""


def badge(site: Site, query: Mapping[str, str]) -> Response:
    """Of everything, of one flow, of one case, or of one cell."""
    word, text = _standing(site, query.get("case", ""), query.get("flow", ""))
    return responses.respond(
        svg(one_line(query.get("label", "assay"))[:60], text, word), "image/svg+xml", code=200 if word else 404
    )


def _standing(site: Site, case: str, flow: str) -> tuple[str, str]:
    if not case and not flow:
        now = read_now(site)
        if now.answer == "pass":
            return _green(now.well, now.skipped)
        if now.answer == "skip":
            return _green(0, now.skipped)
        return now.answer, f"{now.red:,} failing" if now.answer == "fail" else now.answer or "no run"
    if not case:
        of_flow = (jobs for jobs in read_now(site).standing.counts if jobs.flow == flow)
        return _of_jobs((status(jobs), jobs.jobs) for jobs in of_flow)
    cell_query = CellQuery(case=case, flow=flow, exact=True)
    return _of_jobs((status(job), 1) for job in site.moving.get(("badge", cell_query), lambda: _jobs(site, cell_query)))


def _jobs(site: Site, cell_query: CellQuery) -> list[MatrixJob]:
    """All of them: what is not looked at may be wrong."""
    jobs: list[MatrixJob] = []
    for first in count(0, AT_ONCE):
        page = site.store.matrix(cell_query, 0, 1, first, AT_ONCE)
        jobs += page.jobs
        if not page.more_flows:
            break
    return jobs


def _of_jobs(words: Iterable[tuple[str, int]]) -> tuple[str, str]:
    """`words` are verdicts, with how many jobs have each."""
    counted: Counter[str] = Counter()
    for word, jobs in words:
        counted[word] += jobs
    if not counted:
        return "", "unknown"
    worst = min(counted, key=SEVERITY.index)
    if worst == "pass" or (worst == "skip" and len(counted) > 1):
        return _green(sum(counted[word] for word in WELL), counted["skip"])
    return worst, worst if counted.total() == 1 else f"{plural(counted[worst], 'job')} {_VERBS.get(worst, worst)}"


def _green(well: int, skipped: int) -> tuple[str, str]:
    """Nothing is wrong or undecided; a skipped job proves nothing, and is never silently green."""
    if not well:
        return "skip", f"{skipped:,} skipped"
    return "pass", f"passing, {skipped:,} skipped" if skipped else "passing"


def svg(label: str, standing: str, word: str) -> str:
    """Widths are stated, not left to the reader's font: `textLength` fits the letters into them."""
    left, right = (round(len(text) * _LETTER) + _MARGIN for text in (label, standing))
    title = escape(f"{label}: {standing}")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" aria-label="{title}">'
        f'<title>{title}</title><rect width="{left + right}" height="20" rx="4" fill="{COLOURS.get(word, OTHER)}"/>'
        f'<path d="M4 0h{left - 4}v20h-{left - 4}a4 4 0 0 1-4-4v-12a4 4 0 0 1 4-4z" fill="#2d333b"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="{_MARGIN / 2}" y="14" textLength="{left - _MARGIN}">{escape(label)}</text>'
        f'<text x="{left + _MARGIN / 2}" y="14" textLength="{right - _MARGIN}">{escape(standing)}</text></g></svg>\n'
    )
