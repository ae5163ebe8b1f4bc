"""Which metrics of the cells of a run have left their level with that run."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from assay.core.alert import AlertKind, RedJob
from assay.core.job_base import FlowJob
from assay.core.result import Result
from assay.core.run import Run
from assay.judge.named_metrics import metrics
from assay.pipeline.adapters import Services
from assay.pipeline.past_runs.trend import SHORT, observed, trend_of
from assay.stats.cusum import LEAST_POINTS

RUNS = 120
"""That are looked at: the window of the alarm is shorter."""


def trend_alarms(run: Run, results: Sequence[Result], named_metrics: Sequence[str], services: Services) -> list[RedJob]:
    """One for each metric of `named_metrics` (names that `assay trend` knows) of which `assay trend` shows an alarm at this run."""
    backends = {job.key: job.flow.backend for job in run.jobs if isinstance(job, FlowJob)}
    cells: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for result in results:
        if result.job_key in backends:
            cells[result.case, result.flow].append(result)
    red_jobs: list[RedJob] = []
    for (case, flow), own in cells.items():
        recorded = {name for own_result in own for name, value in metrics(own_result).items() if math.isfinite(value)}
        names = [
            name for name in dict.fromkeys(SHORT.get(metric, metric) for metric in named_metrics) if name in recorded
        ]
        past = list(islice(services.store.history(case, flow), RUNS * len(own))) if names else []
        if len({past_result.run_id for past_result in past}) < LEAST_POINTS:
            continue
        observations = list(map(observed, past))
        # Newer results, as of other machines, may have pushed those of this run out of the window.
        here = [entry.metrics for entry in observations if (entry.run_id, entry.machine) == (run.id, run.machine.kind)]
        for name in names:
            if not any(math.isfinite(recorded_metrics.get(name, math.nan)) for recorded_metrics in here):
                continue
            known = trend_of(observations, case, flow, name, run.machine.kind)
            if known.points[-1].run_id == run.id and len(known.points) - 1 in known.alarms:
                values = [point.value for point in known.points]
                red_jobs.append(_red(case, flow, name, values, backends[own[0].job_key]))
    return red_jobs


def _red(case: str, flow: str, name: str, values: Sequence[float], backend: str) -> RedJob:
    usual = sorted(values[:-1])[len(values[:-1]) // 2]
    percent = 100.0 * (values[-1] / usual - 1.0) if usual else math.inf
    reason = f"{name} is {values[-1]:.4g}, {percent:+.1f} % beside its median of {len(values) - 1} earlier runs"
    return RedJob(
        f"{case}|{flow}|trend:{name}", AlertKind.TREND, f"trend {name}", f"{name} {percent:+.1f} %", reason, backend
    )
