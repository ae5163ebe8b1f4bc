"""Candidate against rival in one process, at every batch size asked for; and where the time goes, if the candidate is slower."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.empty_result import empty_result
from assay.core.engine_info import EngineInfo
from assay.core.job import CompareSpeedJob
from assay.core.measurement import OperatorTime
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Stage
from assay.core.result import CompareSpeedResult
from assay.core.speed import SpeedComparison
from assay.errors import UsageError
from assay.models.artifacts import changed
from assay.ports import Backend, Engine
from assay.stats.sequential_test import answer_at, significantly_above
from assay.stats.summary import median
from assay.worker.describe_exception import reason_of
from assay.worker.engine.lower import lower
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.inputs.rebatch import batch_of, rebatch
from assay.worker.stages import Stages
from assay.worker.timing.cpu_quota import usable_cores
from assay.worker.timing.interleaved_timing import Feed, Make, time_interleaved
from assay.worker.timing.operators import operator_times

SHARE_OF_TIME = 0.8
"""Of the job's time, when no launch is begun any more: an answer of few launches is better than none."""


def compare_speed(job: CompareSpeedJob, stages: Stages) -> CompareSpeedResult:
    """Raises UsageError where the two do not take the same inputs, or not at that batch size."""
    deadline = time.monotonic() + SHARE_OF_TIME * job.limits.timeout_s
    if trouble := _unusable(job) or changed(job.baseline) or too_few_cores(job):
        return msgspec.structs.replace(empty_result(job), speeds=(SpeedComparison(job.baseline.name, trouble=trouble),))
    samples = load_golden(job).inputs
    own = lower(job, stages)
    # A transform may change the type of an input; both sides are fed what the candidate takes.
    feeds = [own.rewritten.fed([rebatch(job, samples, batch)])[0] for batch in job.batches or (0,)]

    def make_own() -> Engine:
        return own.backend.load(own.folder, job.flow)

    make_rival = make_own if job.baseline.stored else _baseline_engine(job, stages)
    with stages.enter(Stage.LOAD):
        facts, other = _facts(make_own, feeds[0]), _facts(make_rival, feeds[0])
    with stages.enter(Stage.MEASURE):
        speeds = tuple(
            msgspec.structs.replace(
                time_interleaved(make_own, make_rival, feed, job, deadline),
                rival=job.baseline.name,
                batch=batch_of(feed),
                stored=job.baseline.stored,
            )
            for feed in feeds
        )
        worst = slowest([_slowdown(job, speed) for speed in speeds])
        slower = [] if worst is None else [feeds[worst]]
        times, rival_times = ([*map(_explained(make), slower)] for make in (make_own, make_rival))
    if trouble := changed(job.baseline):
        return msgspec.structs.replace(empty_result(job), speeds=(SpeedComparison(job.baseline.name, trouble=trouble),))
    return msgspec.structs.replace(
        empty_result(job),
        speeds=speeds,
        facts=msgspec.structs.replace(facts, artifact_bytes=own.artifact_bytes, artifact_digest=own.artifact_digest),
        baseline_facts=other,
        operator_times=times[0] if times else (),
        baseline_operator_times=rival_times[0] if rival_times else (),
    )


def _unusable(job: CompareSpeedJob) -> Note | None:
    """What the driver knows of the baseline."""
    return noted(NoteCode.BASELINE_UNUSABLE, reason=job.baseline.trouble) if job.baseline.trouble else None


def too_few_cores(job: CompareSpeedJob) -> Note | None:
    """Why engines with that many threads cannot be compared here; None where they can."""
    threads = max(threads_of(job), int(job.baseline.flow.options.get("threads", 1)))
    cores = usable_cores()
    if threads <= cores or threads == 1:
        return None
    return noted(NoteCode.TOO_FEW_CORES, threads=threads, cores=cores)


def threads_of(job: CompareSpeedJob) -> int:
    """Of the candidate."""
    return int(job.flow.options.get("threads", 1))


def _baseline_engine(job: CompareSpeedJob, stages: Stages) -> Make:
    case = msgspec.structs.replace(job.case, model=job.baseline.model)
    rival_job = msgspec.structs.replace(job, flow=job.baseline.flow, case=case)
    if job.baseline.artifact:
        with stages.enter(Stage.IMPORT):
            backend: Backend = plugins.load("assay.backends", rival_job.flow.backend)()
            backend.prepare()
        folder = Path(job.baseline.artifact)
    else:
        lowered = lower(rival_job, stages)
        backend, folder = lowered.backend, lowered.folder
    return lambda: backend.load(folder, rival_job.flow)


def _facts(make: Make, feed: Feed) -> EngineInfo:
    """Also the first look at whether it runs at all on these inputs."""
    engine = make()
    try:
        engine.run(feed)
    except ValueError as error:
        raise UsageError(noted(NoteCode.OTHER_INPUTS, error=reason_of(error))) from error
    return engine.facts()


def _slowdown(job: CompareSpeedJob, comparison: SpeedComparison) -> float | None:
    """Logarithm of how much slower it seems, None where it does not: then a profile is not worth its time. The verdict itself
    is the driver's."""
    answer = answer_at(comparison.launches, job.rule)
    if answer.word == "slower":
        return answer.mean
    walls = [launch.wall for launch in comparison.launches]
    return median(walls) if significantly_above(walls, job.rule.wall_min_slowdown, job.rule) else None


def slowest(slowdowns: Sequence[float | None]) -> int | None:
    """The place of the batch size that the verdict will tell of, so that it is explained by its own operators; None where nothing
    is slower."""
    ranked = [(slowdown, -place) for place, slowdown in enumerate(slowdowns) if slowdown is not None]
    return -max(ranked)[1] if ranked else None


def _explained(make: Make) -> Callable[[Feed], tuple[OperatorTime, ...]]:
    return lambda feed: operator_times(make(), feed)
