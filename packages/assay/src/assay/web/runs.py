"""The runs, newest first, or those that are like what is asked."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from assay.ports import RunSearch
from assay.web.answer import Answer, page_number
from assay.web.site import Site

SHOWN = 50
MOST = 2000
"""Runs back in the history that pages reach: older ones are found by a search."""
HEADER = (
    "run",
    "started_at",
    "status",
    "verdict",
    "jobs",
    "recorded",
    "passed",
    "failed",
    "other",
    "commit",
    "machine",
    "command",
)


def runs(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises UsageError for a page that lies too far back."""
    from assay.web.answer import NotFound

    page = page_number(query.get("page", ""))
    last = page * SHOWN + 1
    if last > MOST + 1:
        raise NotFound(f"pages reach back {MOST:,} runs: search for older ones")
    branch = query.get("branch", "")
    run_summaries = site.moving.get(("runs", page, branch), lambda: site.store.runs(last, RunSearch(branch=branch)))
    run_summaries = run_summaries[last - SHOWN - 1 :]
    if page > 1 and not run_summaries:
        raise NotFound("there is no such page: it lies behind the last one")
    shown = run_summaries[:SHOWN]
    values = {"runs": shown, "branch": branch, "page": page, "more": len(run_summaries) > SHOWN}
    rows = [
        (
            *(
                run_summary.id,
                run_summary.started_at,
                run_summary.status,
                run_summary.word,
                run_summary.jobs,
                run_summary.recorded,
            ),
            *(
                run_summary.passed,
                run_summary.failed,
                run_summary.other,
                run_summary.commit,
                run_summary.machine,
                run_summary.command,
            ),
        )
        for run_summary in shown
    ]
    return Answer(
        "runs.html.j2", values, {"runs": [msgspec.to_builtins(run_summary) for run_summary in shown]}, HEADER, rows
    )
