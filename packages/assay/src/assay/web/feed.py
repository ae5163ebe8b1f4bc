"""Changes as an Atom feed (RFC 4287): an entry for each job that turned red or green."""

from __future__ import annotations

from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import Response

from assay.ports.browsing import JobState
from assay.reports.sanitize import one_line
from assay.web import responses
from assay.web.address import address
from assay.web.format import label, meaning
from assay.web.now import read_now
from assay.web.site import Site


def feed(site: Site, base: str) -> Response:
    """`base` is the address by which the reader knows this server."""
    standing = read_now(site).standing
    turned = [
        *((job_state, "red") for job_state in standing.newly_red),
        *((job_state, "green") for job_state in standing.newly_green),
    ]
    turned.sort(key=lambda pair: pair[0].since, reverse=True)
    newest = _at(turned[0][0].since) if turned else "1970-01-01T00:00:00+00:00"
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{escape(one_line(site.title))}: what turned red or green</title>",
        f"<id>{escape(base)}changes.atom</id>",
        f'<link rel="self" href={quoteattr(base + "changes.atom")}/>',
        f"<updated>{newest}</updated><author><name>Assay</name></author>",
        *(_entry(job, turn, base) for job, turn in turned),
        "</feed>\n",
    ]
    return responses.respond("\n".join(lines), "application/atom+xml")


def _entry(job: JobState, turn: str, base: str) -> str:
    link = base.rstrip("/") + address("/result", case=job.case, flow=job.flow, run=job.since)
    title = f"{turn}: {one_line(job.case)} on {one_line(job.flow)}, {label(job)}"
    return (
        f"<entry><title>{escape(title)}</title><id>{escape(f'{link}#{job.kind}-{turn}')}</id><updated>{_at(job.since)}</updated>"
        f"<link href={quoteattr(link)}/><summary>{escape(one_line(meaning(job.outcome)))}</summary></entry>"
    )


def _at(run_id: str) -> str:
    """When a run began, from its id."""
    try:
        at = datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        at = datetime.fromtimestamp(0, UTC)
    return at.isoformat()
