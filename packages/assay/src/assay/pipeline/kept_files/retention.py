"""How long what a run leaves is kept: raw samples and files for some weeks, results and their metrics for ever."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import msgspec

from assay.core.measurement import Measurement
from assay.core.result import MeasureResult, Result
from assay.errors import UsageError
from assay.judge.named_metrics import metrics
from assay.pipeline.adapters import Services
from assay.pipeline.kept_files.run_files import OF_RUN
from assay.ports import RollsUp


@dataclass(frozen=True)
class Pruned:
    """`samples`: results whose raw samples went; `runs`: those whose logs, traces and engines went."""

    samples: int
    runs: int


def prune(services: Services, *, samples_weeks: int, files_weeks: int, now: datetime) -> Pruned:
    """0 weeks: for ever. Raises UsageError where this kind of history cannot shorten results."""
    samples = 0
    if samples_weeks:
        if not isinstance(services.store, RollsUp):
            raise UsageError("this kind of history keeps its results whole: leave samples-weeks out")
        before = now.astimezone(UTC) - timedelta(weeks=samples_weeks)
        samples = services.store.roll_up(before.isoformat(timespec="seconds"), without_samples)
    runs = _remove_files(services, now - timedelta(weeks=files_weeks)) if files_weeks else 0
    return Pruned(samples, runs)


def without_samples(result: Result) -> Result | None:
    """The result with the metrics of its samples in their place; None where it has none."""
    if not isinstance(result, MeasureResult) or not any(map(_samples, result.measurements)):
        return None
    bare = tuple(
        msgspec.structs.replace(measurement, wall_s=(), cpu_s=(), warmup_s=(), cold_s=(), device_s=())
        for measurement in result.measurements
    )
    short = msgspec.structs.replace(result, measurements=bare)
    left = metrics(short)
    gone = {name: value for name, value in metrics(result).items() if left.get(name) != value}
    return msgspec.structs.replace(short, kept_metrics=gone)


def _samples(measurement: Measurement) -> bool:
    return bool(
        measurement.wall_s or measurement.cpu_s or measurement.warmup_s or measurement.cold_s or measurement.device_s
    )


def _remove_files(services: Services, before: datetime) -> int:
    """Of runs that began earlier: the id of a run begins with its time."""
    first = before.astimezone(UTC).strftime("%Y%m%dT%H%M%S")
    here = {path.name for kind in OF_RUN for path in (services.folder / kind).glob("*") if path.is_dir()}
    shared = services.files.known(*(f"{kind}/" for kind in OF_RUN))
    old = {run_id for run_id in {*here, *(name.rpartition("/")[2] for name in shared)} if run_id < first}
    names = [f"{kind}/{run}" for kind in OF_RUN for run in sorted(old)]
    services.files.forget([name for name in names if name in shared])
    for name in names:
        shutil.rmtree(services.folder / name, ignore_errors=True)
    return len(old)
