"""The main job on one page: look -> plan -> reference -> verify -> measure -> record -> judge."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import AnyJob, ChangeJob, Job, JobKind
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.errors import HarnessError
from assay.judge.verdicts import first_verdict, judge
from assay.options.repro import config_of
from assay.pipeline.drift import annotate_drift
from assay.pipeline.ensure_references import ensure_references, without_reference
from assay.pipeline.find_baseline import approved_results
from assay.pipeline.job_logs import with_log
from assay.pipeline.originals import record_originals
from assay.pipeline.plan import plan
from assay.pipeline.refused_inputs import RefusedInputs
from assay.pipeline.request import Request
from assay.pipeline.services import RunJournal, Services
from assay.pipeline.two_process_comparison import Comparisons
from assay.pipeline.verify_stages import VerifyStages, coarse_suffices
from assay.pipeline.witnesses import Witnessed
from assay.plugins import transforms_available
from assay.ports import Launcher

BATCH_S = 0.5
"""Between two transactions of the history; the journal has every result at once."""


FEW_JOBS = 40
"""Of a run whose verdicts are shown one by one while it goes on."""


@dataclass(frozen=True)
class Checked:
    """What `assay.check` returns."""

    run: Run
    results: tuple[Result, ...]
    judgement: RunVerdict


def check(request: Request, house: Services) -> Checked:
    """Everything the request asks for. Raises UsageError before anything ran, HarnessError when the machine fails."""
    run = plan(request, house)
    house.store.open_run(run)
    return run_jobs(run, [], house)


def run_jobs(
    run: Run,
    done: Sequence[Result],
    house: Services,
    *,
    conclude: Callable[[Sequence[Result]], Sequence[Result]] = lambda results: (),
) -> Checked:
    """The jobs of `run` that are not in `done`, then the judgement. Also how an interrupted run goes on.

    `conclude` sees all results of the workers, and adds those of jobs that no worker does.
    """
    house.scratch(run.id).mkdir(parents=True, exist_ok=True)
    journal = house.open_journal(house.journal_path(run.id), run)
    recorder = _ResultSink(run, list(done), journal, house)
    # Held until the run is closed: a journal that nobody holds is that of a driver that was killed.
    with contextlib.closing(journal):
        try:
            todo = recorder.left(run.jobs)
            todo = recorder.take(_unavailable(todo, house), todo)
            todo = recorder.take(record_originals(todo, house), todo)
            lacking = ensure_references(todo, house)
            todo, without = without_reference(todo, lacking)
            todo = recorder.take(without, todo)
            goals = run.policy.goals
            verifying = VerifyStages(house, house.pool, coarse=coarse_suffices(run))
            for kind, launcher in (
                (JobKind.CHANGE, Witnessed(house, VerifyStages(house, house.pool, coarse=False), goals)),
                (JobKind.VERIFY, RefusedInputs(house, Witnessed(house, verifying, goals))),
                (JobKind.PER_NODE, Witnessed(house, house.pool)),
                (JobKind.MEASURE, house.alone),
                (JobKind.COMPARE_SPEED, Comparisons(house)),
            ):
                recorder.run([job for job in todo if job.kind is kind], launcher)
            recorder.take(conclude(recorder.results), todo)
        except BaseException:
            # Whatever the history could not take is in the journal: `assay resume` finds it there.
            with contextlib.suppress(HarnessError):
                recorder.flush()
                house.store.close_run(run.id, "interrupted", judge_run(run, recorder.results, house))
            raise
        finally:
            shutil.rmtree(house.scratch(run.id), ignore_errors=True)
        recorder.flush()
        house.progress.doing(f"judging {len(recorder.results)} results")
        judgement = judge_run(run, recorder.results, house)
        house.store.close_run(run.id, "complete", judgement)
    house.journal_path(run.id).unlink(missing_ok=True)
    return Checked(msgspec.structs.replace(run, status="complete"), tuple(recorder.results), judgement)


def judge_run(run: Run, results: Sequence[Result], house: Services) -> RunVerdict:
    """The run's own policy on these results, beside its baseline, and what changed since the run before."""
    baseline = house.store.results(run.baseline) if run.baseline else approved_results(run)
    planned = [job.key for job in run.jobs]
    judgement = judge(
        results,
        run.policy,
        planned=planned,
        baseline=baseline,
        today=datetime.now(UTC).date(),
        narrowed=run.narrowed,
        alone=run.alone,
        asked={job.key: job for job in run.jobs},
        config=config_of(run),
    )
    return annotate_drift(judgement, run, results, house)


class _ResultSink:
    """Journal at once, history in batches, progress told."""

    def __init__(self, run: Run, done: list[Result], journal: RunJournal, house: Services) -> None:
        self.results = done
        self._run, self._journal, self._house = run, journal, house
        self._batch: list[Result] = []
        self._flushed = time.monotonic()

    def left(self, jobs: Sequence[AnyJob]) -> list[AnyJob]:
        keys = {result.job_key for result in self.results}
        return [job for job in jobs if job.key not in keys]

    def take(self, results: Sequence[Result], jobs: Sequence[AnyJob]) -> list[AnyJob]:
        """Record what is known without running; return what is left."""
        for result in results:
            self._add(result)
        return self.left(jobs) if results else list(jobs)

    def run(self, jobs: Sequence[Job], launcher: Launcher) -> None:
        if not jobs:
            return
        for result in launcher.launch(jobs):
            self._add(result)

    def _add(self, result: Result) -> None:
        planned = len(self._run.jobs)
        result = with_log(result, self._run, self._house.folder, every=planned <= FEW_JOBS)
        self._journal.append(result)
        self.results.append(result)
        self._batch.append(result)
        if time.monotonic() - self._flushed > BATCH_S:
            self.flush()
        today = datetime.now(UTC).date()
        verdict = first_verdict(result, self._run.policy, today) if planned <= FEW_JOBS else ""
        self._house.progress.recorded(len(self.results), planned, result, verdict)

    def flush(self) -> None:
        if self._batch:
            self._house.store.record(self._run.id, self._batch)
        self._batch = []
        self._flushed = time.monotonic()


def _unavailable(jobs: Sequence[Job], house: Services) -> list[Result]:
    """Flows whose backend or transforms are not installed where they run get their answer without a worker."""
    known: dict[tuple[str, ...], tuple[str, Cause]] = {}
    needing = [job for job in jobs if not isinstance(job, ChangeJob)]
    for flow in (job.flow for job in needing):
        if (key := _needed(flow)) not in known:
            parts = (house.available(flow), *(() if flow.environment else transforms_available(flow)))
            here = next((one for one in parts if not one.available), parts[0])
            how = f"; to install it: {here.install}" if here.install else ""
            text = "" if here.available else f"{here.reason.rstrip('.')}{how}"
            known[key] = text, Cause.NOT_INSTALLED if here.install else Cause.MISSING_LIBRARY
    return [
        msgspec.structs.replace(
            empty_result(job, Outcome.UNAVAILABLE),
            cause=known[_needed(job.flow)][1],
            detail=known[_needed(job.flow)][0],
        )
        for job in needing
        if known[_needed(job.flow)][0]
    ]


def _needed(flow: Flow) -> tuple[str, ...]:
    return (flow.environment, flow.backend, *flow.transforms)
