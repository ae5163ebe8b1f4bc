"""A comparison of speed by two processes, for engines that cannot live in one: a fresh pair for every launch, taking turns."""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import variables_of
from assay.core.job import AlternateJob, CompareSpeedJob, MeasureJob, other_kind
from assay.core.job_base import Job
from assay.core.limits import Measuring
from assay.core.measurement import Measurement
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import AlternateResult, CompareSpeedResult, MeasureResult, Result
from assay.core.speed import (
    INPUT_TYPES_SUFFIX,
    AlternatingSide,
    PairedRun,
    SpeedComparison,
    stopped_clock,
)
from assay.models.artifacts import changed
from assay.pipeline.adapters import Services
from assay.stats.paired_ratio import paired_ratio
from assay.stats.sequential_test import is_decided

_BUILD = Measuring(seconds=0.01, warmup_s=0.1)
SHARE_OF_TIME = 0.8
"""Of the job's time, when no launch is begun any more."""
Artifact = tuple[str, str | None]
"""The folder of an engine, and its digest when it was built or approved (None: whatever it is)."""


async def comparisons(jobs: Sequence[Job], services: Services) -> AsyncIterator[Result]:
    """One result each, in one worker where the engines can share one. When nothing else runs."""
    apart = [job for job in jobs if isinstance(job, CompareSpeedJob) and needs_two_processes(job)]
    async for result in services.jobs.alone([job for job in jobs if job not in apart]):
        yield result
    for job in apart:
        yield await compare_in_two_processes(job, services)


def needs_two_processes(job: CompareSpeedJob) -> bool:
    """Whether the two engines of this comparison need processes of their own."""
    rival = job.baseline
    if rival.trouble or rival.stored or changed(rival):
        return False
    return rival.flow.environment != job.flow.environment or variables_of(rival.flow.options) != variables_of(
        job.flow.options
    )


async def compare_in_two_processes(job: CompareSpeedJob, services: Services) -> CompareSpeedResult:
    """Exactly one result, as of a comparison in one worker."""
    Path(job.scratch).mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + SHARE_OF_TIME * job.limits.timeout_s
    with tempfile.TemporaryDirectory(prefix="compare-", dir=job.scratch) as name:
        folder = Path(name)
        own, rival = _sides(job)
        built: list[MeasureResult] = []
        for side, build in (("own", own), ("rival", rival)):
            if side == "rival" and job.baseline.artifact:
                built.append(empty_result(build))
                continue
            side_job = replace(build, artifact_dir=str(folder / side))
            (result,) = await services.jobs.together([side_job])
            # Whatever else is to be said of it: with samples it was built, and it ran.
            if not isinstance(result, MeasureResult) or not result.measurements:
                return _failed(job, result)
            built.append(result)
        artifacts = (
            (str(folder / "own"), built[0].facts.artifact_digest),
            (job.baseline.artifact, job.baseline.digest)
            if job.baseline.artifact
            else (str(folder / "rival"), built[1].facts.artifact_digest),
        )
        speeds: list[SpeedComparison] = []
        for batch in job.batches or (0,):
            comparison = await _compare(job, batch, artifacts, folder, deadline, services)
            if trouble := changed(job.baseline):
                return replace(empty_result(job), speeds=(SpeedComparison(job.baseline.name, trouble=trouble),))
            if isinstance(comparison, CompareSpeedResult):
                return comparison
            speeds.append(comparison)
    return replace(
        empty_result(job),
        stage=Stage.MEASURE,
        speeds=tuple(speeds),
        facts=built[0].facts,
        baseline_facts=built[1].facts,
        operator_times=built[0].operator_times,
        baseline_operator_times=built[1].operator_times,
        versions=built[0].versions,
    )


def _sides(job: CompareSpeedJob) -> tuple[MeasureJob, MeasureJob]:
    """What to build for each of the two."""
    own = other_kind(job, MeasureJob, measuring=_BUILD)
    return own, replace(own, flow=job.baseline.flow, case=replace(job.case, model=job.baseline.model))


async def _compare(
    job: CompareSpeedJob,
    batch: int,
    artifacts: tuple[Artifact, Artifact],
    folder: Path,
    deadline: float,
    services: Services,
) -> SpeedComparison | CompareSpeedResult:
    """The comparison at one batch size, or what a side of it failed with."""
    launches: list[PairedRun] = []
    walls: list[tuple[float, float]] = []
    chance = random.Random()
    clock, out_of_time, rows = "", False, 0
    while len(launches) < job.rule.looks[-1]:
        pair = _pair(job, batch, artifacts, folder / f"launch-{batch}-{len(launches)}", chance)
        by_key = {result.job_key: result for result in await services.jobs.together(pair)}
        mine, theirs = (by_key[side_job.key] for side_job in sorted(pair, key=lambda side_job: side_job.case.name))
        for result in sorted((mine, theirs), key=lambda side_result: side_result.cause is Cause.PEER_FAILED):
            if result.outcome is not Outcome.OK:
                return _failed(job, result)
        ours, others = _turns(mine), _turns(theirs)
        clock, rows = ours.clock, ours.taken.batch
        launch = _paired_run(ours, others)
        if launch is None:
            return SpeedComparison(
                job.baseline.name, clock=clock, batch=rows, processes=2, trouble=stopped_clock(clock)
            )
        launches.append(launch)
        walls.append((median(ours.taken.wall_s), median(others.taken.wall_s)))
        if len(launches) in job.rule.looks and is_decided(launches, job.rule):
            break
        if time.monotonic() > deadline:
            out_of_time = True
            break
    own_s, rival_s = median([launch.own_s for launch in launches]), median([launch.rival_s for launch in launches])
    own_wall_s, rival_wall_s = (median(seconds) for seconds in zip(*walls, strict=True))
    return SpeedComparison(
        job.baseline.name,
        tuple(launches),
        clock,
        own_s,
        rival_s,
        rows,
        processes=2,
        own_wall_s=own_wall_s,
        rival_wall_s=rival_wall_s,
        out_of_time=out_of_time,
    )


def _pair(
    job: CompareSpeedJob, batch: int, artifacts: tuple[Artifact, Artifact], folder: Path, chance: random.Random
) -> list[AlternateJob]:
    """The two jobs of one launch, in random order, one of them leading. Their names sort own before rival."""
    folder.mkdir()
    for name in ("to-lead", "to-follow"):
        os.mkfifo(folder / name)
    seed, own_leads = chance.randrange(1 << 30), chance.random() < 0.5
    # Both sides are fed the candidate's inputs, in the types that it takes.
    flows, takes = (job.flow, job.baseline.flow), f"{folder.parent / 'own'}{INPUT_TYPES_SUFFIX}"
    sides = zip(("a", "b"), flows, artifacts, (own_leads, not own_leads), strict=True)
    jobs = [
        other_kind(
            job,
            AlternateJob,
            case=replace(job.case, name=f"{letter}/{job.case.name}"),
            flow=flow,
            batch=batch,
            artifact_dir=artifact,
            side=AlternatingSide(str(folder), seed, leads, takes, digest),
        )
        for letter, flow, (artifact, digest), leads in sides
    ]
    return chance.sample(jobs, 2)


@dataclass(frozen=True)
class _Turns:
    """One side of a launch that ended well."""

    taken: Measurement
    load_s: float
    clock: str


def _turns(result: Result) -> _Turns:
    assert isinstance(result, AlternateResult)
    assert result.turns is not None
    return _Turns(result.turns, result.load_s, result.clock)


def _paired_run(mine: _Turns, theirs: _Turns) -> PairedRun | None:
    ours, others = mine.taken, theirs.taken
    quads = min(len(ours.cpu_s), len(others.cpu_s)) // 2
    cpu = paired_ratio(ours.cpu_s[: 2 * quads], others.cpu_s[: 2 * quads])
    wall = paired_ratio(ours.wall_s[: 2 * quads], others.wall_s[: 2 * quads])
    load = paired_ratio([mine.load_s], [theirs.load_s])
    if cpu is None or wall is None:
        return None
    return PairedRun(cpu, wall, load or 0.0, quads, median(ours.cpu_s), median(others.cpu_s))


def _failed(job: CompareSpeedJob, side: Result) -> CompareSpeedResult:
    """What went wrong on one side is the outcome of the comparison; whose side it was is said."""
    return replace(
        empty_result(job, side.outcome),
        stage=side.stage,
        cause=side.cause,
        detail=f"{side.flow}: {side.detail}",
        node=side.node,
        signal=side.signal,
        log=side.log,
    )
