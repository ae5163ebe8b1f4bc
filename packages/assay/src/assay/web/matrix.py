"""Case × flow, of one run or of the newest result of everything, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.ports.browsing import CellQuery, MatrixJob, MatrixPage
from assay.web.address import changed
from assay.web.annotations import annotations_on
from assay.web.answer import Answer, NotFound, page_number
from assay.web.format import label, status, worst_job
from assay.web.site import Site

CASES, FLOWS = 50, 8
HEADER = ("case", "flow", "kind", "outcome", "verdict", "run")
FILTERS = ("run", "case", "flow", "outcome", "word")


def matrix(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, NotFound for a page that is not there, UsageError for a number that is none."""
    run, case, flow, outcome, word = (query.get(name, "").strip() for name in FILTERS)
    asked = CellQuery(run, case, flow, outcome, word)
    page, flow_page = page_number(query.get("page", "")), page_number(query.get("flows", ""), "flows")
    first_case, first_flow = (page - 1) * CASES, (flow_page - 1) * FLOWS
    found = site.moving.get(
        ("matrix", asked, page, flow_page), lambda: site.store.matrix(asked, first_case, CASES, first_flow, FLOWS)
    )
    if (page > 1 and not found.cases) or (flow_page > 1 and not found.flows):
        raise NotFound("there is no such page: it lies behind the last one")
    used = {name: query[name] for name in (*FILTERS, "page", "flows") if query.get(name)}
    values = {
        "asked": asked,
        "found": found,
        "lines": _lines(found),
        "annotations": annotations_on(site, found.jobs[0].run) if run and found.jobs else [],
        "run_id": found.jobs[0].run if run and found.jobs else "",
        "page": page,
        "flow_page": flow_page,
        "outcomes": [one.value for one in Outcome],
        "statuses": [verdict_status.value for verdict_status in VerdictStatus],
        "links": _links(used, page, flow_page, found),
    }
    return Answer("matrix.html.j2", values, found, HEADER, [_row(job) for job in found.jobs])


def _row(matrix_job: MatrixJob) -> tuple[str, ...]:
    return matrix_job.case, matrix_job.flow, matrix_job.kind, matrix_job.outcome, matrix_job.word, matrix_job.run


def _lines(found: MatrixPage) -> list[tuple[str, list[dict[str, str] | None]]]:
    cells: dict[tuple[str, str], list[MatrixJob]] = {}
    for job in found.jobs:
        cells.setdefault((job.case, job.flow), []).append(job)
    return [(case, [_cell(cells.get((case, flow), [])) for flow in found.flows]) for case in found.cases]


def _cell(jobs: Sequence[MatrixJob]) -> dict[str, str] | None:
    if not jobs:
        return None
    worst: MatrixJob = worst_job(jobs)
    kind = "" if worst.kind == "verify" or status(worst) == "pass" else worst.kind.replace("_", " ")
    return {"status": status(worst), "label": label(worst), "kind": kind, "run": worst.run}


def _links(used: Mapping[str, str], page: int, flow_page: int, found: MatrixPage) -> dict[str, str]:
    """To the pages beside this one; "" where there is none."""
    return {
        "previous": changed("/matrix", used, page=page - 1) if page > 1 else "",
        "next": changed("/matrix", used, page=page + 1) if found.more_cases else "",
        "flows_before": changed("/matrix", used, flows=flow_page - 1) if flow_page > 1 else "",
        "flows_after": changed("/matrix", used, flows=flow_page + 1) if found.more_flows else "",
    }
