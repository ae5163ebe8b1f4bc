"""One cell of one run: what was asked, what was observed, what the judge says of it, and what it was in other runs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from assay.core.result import MeasureResult, Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.errors import UsageError
from assay.judge.named_metrics import metrics
from assay.judge.verdicts import judge
from assay.options.repro import config_of
from assay.pipeline.baselines.find_baseline import approved_results
from assay.reports.html_detail import detail
from assay.reports.rows import rows
from assay.web.annotations import annotations_on
from assay.web.answer import Answer
from assay.web.pictures import bars, strip
from assay.web.site import Site

HISTORY = 30
WELL = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value)
HEADER = ("kind", "metric", "value")
COMPARED = (
    ("budget_used", "Budget used"), ("max_abs", "Max abs"), ("max_rel", "Max rel"), ("rel_l2", "Relative L2"), ("cosine", "Cosine"),
    ("sqnr_db", "SQNR"), ("psnr_db", "PSNR"), ("share_out_of_tolerance", "Out of tolerance"),
)  # fmt: skip


def result(site: Site, query: Mapping[str, str]) -> Answer:
    """Raises RunNotFound, UsageError where no cell is named."""
    case, flow = query.get("case", ""), query.get("flow", "")
    if not case or not flow:
        raise UsageError("which result? its address has a case and a flow: /result?case=NAME&flow=NAME")
    run, results = site.store.cell(query.get("run", ""), case, flow)
    (row,) = rows(run, results, judge_cell(site, run, results))
    shown = detail(run, row)
    values = {
        "run": run,
        "row": row,
        "detail": shown,
        "compared": COMPARED,
        "pictures": _pictures(shown),
        "annotations": annotations_on(site, run.id, case, flow),
        "has_engine": any(isinstance(job_result, MeasureResult) for job_result in results) and row.word in WELL,
        "past": site.store.cell_runs(case, flow, HISTORY),
        "trend_metric": _trend_metric(results),
    }
    figures = [
        (job_result.kind.value, name, value)
        for job_result in results
        for name, value in sorted(metrics(job_result).items())
    ]
    return Answer("result.html.j2", values, _data(run, results, shown, row.word), HEADER, figures)


def judge_cell(site: Site, run: Run, results: list[Result]) -> RunVerdict:
    """By the run's own policy, beside the results of its baseline run or of its approved engines."""
    keys = [job.key for job in run.jobs]
    baseline = site.store.results(run.baseline, keys) if run.baseline else approved_results(run)
    return judge(
        results,
        run.policy,
        planned=keys,
        baseline=baseline,
        today=datetime.now(UTC).date(),
        narrowed=True,
        alone=run.alone,
        jobs_by_key={job.key: job for job in run.jobs},
        config=config_of(run),
    )


def _data(run: Run, results: list[Result], shown: dict[str, object], word: str) -> dict[str, object]:
    return {
        "run": run.id,
        "started_at": run.started_at,
        "commit": run.commit,
        "machine": run.machine.kind,
        "verdict": word,
        "jobs": [
            {"key": job_result.job_key, "outcome": job_result.outcome.value, "metrics": metrics(job_result)}
            for job_result in results
        ],
        **shown,
    }


def _pictures(shown: dict[str, Any]) -> list[dict[str, Any]]:
    """Of each entry: histograms by output, and samples by batch size."""
    return [
        {
            "errors": [
                [
                    (title, bars(comparison[key]))
                    for title, key in (("Absolute error", "errors"), ("Error in ULP", "ulps"))
                    if comparison[key]
                ]
                for comparison in entry.get("comparisons", ())
            ],
            "samples": [strip(measurement) for measurement in entry.get("measurements", ())],
        }
        for entry in shown["entries"]
    ]


def _trend_metric(results: list[Result]) -> str:
    """What is worth a trend first."""
    named = {name for job_result in results for name in metrics(job_result)}
    return next((name for name in ("latency.median_ms", "budget_used") if name in named), "seconds")
