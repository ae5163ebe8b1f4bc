"""Case × flow, of one run or of the newest result of everything, a page at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.ports.browsing import RED, CellQuery, MatrixJob, MatrixPage
from assay.web.address import changed
from assay.web.annotations import annotations_on
from assay.web.answer import Answer, NotFound, page_number
from assay.web.format import label, status, worst_job
from assay.web.site import Site

CASES, FLOWS = 50, 8
HEADER = ("case", "flow", "kind", "outcome", "verdict", "run")
FILTERS = ("run", "case", "flow", "outcome", "word", "exact")


def matrix(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, NotFound for a page that is not there, UsageError for a number that is none."""
    run, case, flow, outcome, word, exact = (query.get(name, "").strip() for name in FILTERS)
    cell_query = CellQuery(run, case, flow, outcome, word, exact == "1")
    page, flow_page = page_number(query.get("page", "")), page_number(query.get("flows", ""), "flows")
    first_case, first_flow = (page - 1) * CASES, (flow_page - 1) * FLOWS
    matrix_page = site.moving.get(
        ("matrix", cell_query, page, flow_page),
        lambda: site.store.matrix(cell_query, first_case, CASES, first_flow, FLOWS),
    )
    if (page > 1 and not matrix_page.cases) or (flow_page > 1 and not matrix_page.flows):
        raise NotFound("there is no such page: it lies behind the last one")
    used = {name: query[name] for name in (*FILTERS, "page", "flows") if query.get(name)}
    values = {
        "asked": cell_query,
        "found": matrix_page,
        "lines": _lines(matrix_page),
        "annotations": annotations_on(site, matrix_page.jobs[0].run) if run and matrix_page.jobs else [],
        "run_id": matrix_page.jobs[0].run if run and matrix_page.jobs else "",
        "page": page,
        "flow_page": flow_page,
        "outcomes": [known_outcome.value for known_outcome in Outcome],
        "statuses": [RED, *(verdict_status.value for verdict_status in VerdictStatus)],
        "links": _links(used, page, flow_page, matrix_page),
    }
    return Answer("matrix.html.j2", values, matrix_page, HEADER, [_row(job) for job in matrix_page.jobs])


def _row(matrix_job: MatrixJob) -> tuple[str, ...]:
    return matrix_job.case, matrix_job.flow, matrix_job.kind, matrix_job.outcome, matrix_job.word, matrix_job.run


def _lines(matrix_page: MatrixPage) -> list[tuple[str, list[dict[str, str] | None]]]:
    cells: dict[tuple[str, str], list[MatrixJob]] = {}
    for job in matrix_page.jobs:
        cells.setdefault((job.case, job.flow), []).append(job)
    return [(case, [_cell(cells.get((case, flow), [])) for flow in matrix_page.flows]) for case in matrix_page.cases]


def _cell(jobs: Sequence[MatrixJob]) -> dict[str, str] | None:
    if not jobs:
        return None
    worst: MatrixJob = worst_job(jobs)
    kind = "" if worst.kind == "verify" or status(worst) == "pass" else worst.kind.replace("_", " ")
    return {"status": status(worst), "label": label(worst), "kind": kind, "run": worst.run}


def _links(used: Mapping[str, str], page: int, flow_page: int, matrix_page: MatrixPage) -> dict[str, str]:
    """To the pages beside this one; "" where there is none."""
    return {
        "previous": changed("/matrix", used, page=page - 1) if page > 1 else "",
        "next": changed("/matrix", used, page=page + 1) if matrix_page.more_cases else "",
        "flows_before": changed("/matrix", used, flows=flow_page - 1) if flow_page > 1 else "",
        "flows_after": changed("/matrix", used, flows=flow_page + 1) if matrix_page.more_flows else "",
    }
