"""What every launcher must do: one result for each job, and for each death the right job, cause and stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from assay.core.case import Case
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.ports import Launcher

TIMEOUT_S = 10.0
"""Of a job that hangs: within it a busy machine must come to the stage in which it does."""
PATIENCE_S = 300.0
"""Of any other, however busy the machine is."""
MEMORY_BYTES = 350_000_000

DEATHS = {
    "segfault": (Outcome.CRASH, Cause.SIGNAL, "SIGSEGV"),
    "abort": (Outcome.CRASH, Cause.SIGNAL, "SIGABRT"),
    "exit": (Outcome.CRASH, Cause.OTHER, ""),
    "hang": (Outcome.TIMEOUT, Cause.TIMEOUT, ""),
    "leak": (Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, ""),
    "memory_error": (Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, ""),
    "raise": (Outcome.ERROR, Cause.OTHER, ""),
    "none": (Outcome.OK, Cause.NONE, ""),
}
"""Fault of the `faulty` backend: what a launcher must say of it."""


def faulty_job(
    name: str,
    fault: str,
    *,
    model: Model,
    golden: Path,
    stage: Stage = Stage.RUN,
    options: dict[str, Option] | None = None,
) -> VerifyJob:
    """A verify job whose backend misbehaves in `stage`. `golden` is any golden folder of `model`."""
    flow = Flow(f"faulty-{fault}", "faulty", {"fault": fault, "stage": stage.value, **(options or {})})
    limits = Limits(timeout_s=TIMEOUT_S if fault == "hang" else PATIENCE_S, memory_bytes=MEMORY_BYTES)
    return VerifyJob(Case(name, model), flow, limits=limits, reference_dir=str(golden))


def check_launcher(make: Callable[[], Launcher], *, model: Model, golden: Path) -> None:
    """Raises AssertionError naming the job that was blamed wrong, lost or doubled. Takes about twenty seconds."""
    jobs = [
        faulty_job(f"{number}-{fault}-{stage.value}", fault, model=model, golden=golden, stage=stage)
        for number, (fault, stage) in enumerate(
            [(fault, Stage.RUN) for fault in DEATHS]
            + [("segfault", Stage.LOWER), ("none", Stage.RUN), ("exit", Stage.LOAD)]
        )
    ]
    source = _OneByNeed(jobs)
    results: list[Result] = []
    for result in make().launch(source):
        source.done(result)
        results.append(result)
    check_blame(jobs, results)


class _OneByNeed:
    """All jobs but the last at once; the last needs the result of the first."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self._needed, self._last, self._ready = jobs[0].key, jobs[-1], list(jobs[:-1])

    def next_ready(self) -> Job | None:
        return self._ready.pop(0) if self._ready else None

    def expected(self) -> Sequence[Job]:
        return [self._last]

    def done(self, result: Result) -> None:
        if result.job_key == self._needed:
            self._ready.append(self._last)


def check_blame(jobs: Sequence[VerifyJob], results: Sequence[Result]) -> None:
    """Every job has one result, and it says what its fault deserves."""
    keys = [result.job_key for result in results]
    assert len(keys) == len(set(keys)), f"doubled: {sorted(key for key in keys if keys.count(key) > 1)}"
    lost = {job.key for job in jobs} - set(keys)
    assert not lost, f"lost: {sorted(lost)}"
    by_key = {result.job_key: result for result in results}
    for job in jobs:
        result = by_key[job.key]
        outcome, cause, signal = DEATHS[str(job.flow.options["fault"])]
        assert (result.outcome, result.cause) == (outcome, cause), f"{job.key}: {result.outcome}, {result.detail}"
        assert not signal or result.signal == signal, f"{job.key}: {result.signal}"
        stage = str(job.flow.options["stage"]) if outcome is not Outcome.OK else Stage.COMPARE
        assert result.stage == stage, f"{job.key}: blamed on stage {result.stage}, it was {stage}"
