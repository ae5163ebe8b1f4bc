"""Which metrics of the cells that a run measured have left their level with that run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.alert import AlertKind, RedJob
from assay.core.job import MeasureJob
from assay.core.result import Result
from assay.core.run import Run
from assay.judge.metric_registry import direction
from assay.judge.metrics import metrics, stated_by
from assay.pipeline.services import Services
from assay.pipeline.trend import SHORT, worse_is_more
from assay.stats.cusum import LEAST_POINTS, alarms

RUNS = 120
"""That are looked at: the window of the alarm is shorter."""


def trend_alarms(run: Run, results: Sequence[Result], wanted: Sequence[str], services: Services) -> list[RedJob]:
    """One for each metric of `wanted` (names that `assay trend` knows) that raises an alarm at this run."""
    here = run.machine.kind
    backends = {job.key: job.flow.backend for job in run.jobs if isinstance(job, MeasureJob)}
    found: list[RedJob] = []
    for result in results:
        if result.job_key not in backends:
            continue
        known = services.store.history(result.case, result.flow)
        past = [one for one in known if one.machine == here and one.result.job_key == result.job_key][:RUNS]
        if len(past) < LEAST_POINTS or past[0].run_id != run.id:
            continue
        rows = [metrics(one.result) for one in reversed(past)]
        for short in wanted:
            name = SHORT.get(short, short)
            values = [row[name] for row in rows if math.isfinite(row.get(name, math.nan))]
            if name in rows[-1] and values and _alarms(values, name, result):
                found.append(_red(result, name, values, backends[result.job_key]))
    return found


def _alarms(values: Sequence[float], name: str, result: Result) -> bool:
    return len(values) - 1 in alarms(worse_is_more(values, direction(name, stated_by(result))))


def _red(result: Result, name: str, values: Sequence[float], backend: str) -> RedJob:
    usual = sorted(values[:-1])[len(values[:-1]) // 2]
    percent = 100.0 * (values[-1] / usual - 1.0) if usual else math.inf
    reason = f"{name} is {values[-1]:.4g}, {percent:+.1f} % beside its median of {len(values) - 1} earlier runs"
    key = f"{result.case}|{result.flow}|trend:{name}"
    return RedJob(key, AlertKind.TREND, f"trend {name}", f"{name} {percent:+.1f} %", reason, backend)
