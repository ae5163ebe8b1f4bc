"""A run while it is open: each result is kept as it comes, and the history says how the run ended."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import msgspec

from assay.core.job import AnyJob
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.errors import HarnessError, RunNotFound, StoreUnreachable, WorkerFailed
from assay.judge.verdicts import first_verdict, judge
from assay.options.repro import config_of
from assay.pipeline.adapters import RunJournal, Services
from assay.pipeline.going_on import resumable, resume_command, what_to_do
from assay.pipeline.kept_files.job_logs import with_log
from assay.pipeline.kept_files.run_files import bring_references, share_run
from assay.pipeline.past_runs.clock_ahead import clock_ahead
from assay.pipeline.past_runs.drift import annotate_drift
from assay.pipeline.past_runs.run_changes import compared_results, with_changes

BATCH_S = 0.5
"""Between two transactions of the history; the journal has every result at once."""
PATIENCE_S = 30.0
"""For a server that does not answer at the end of a run."""
AGAIN_S = 1.0
"""Between two tries at it."""


FEW_JOBS = 40
"""Of a run whose verdicts are shown one by one while it goes on."""


Value = TypeVar("Value")


@dataclass(frozen=True)
class Checked:
    """What `assay.check` returns. `alerts` says, a line each, what became of the alerts that assay.toml asks for; `notes` what else
    is to be told."""

    run: Run
    results: tuple[Result, ...]
    judgement: RunVerdict
    alerts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@contextmanager
def open_run(run: Run, services: Services, known: Sequence[Result] = (), *, resumed: bool = False) -> Iterator[OpenRun]:
    """`known` are results that it has already; `resumed`, that the history has both. What is raised inside leaves the run interrupted,
    with the results that it had. Afterwards `OpenRun.checked` is the whole."""
    if not resumed:
        services.store.open_run(run)
        services.store.record(run.id, known)
    services.scratch(run.id).mkdir(parents=True, exist_ok=True)
    bring_references(run, services)
    journal = services.open_journal(services.journal_path(run.id), run)
    opened = OpenRun(run, known, journal, services)
    services.progress.begun(len(known), len(run.jobs))
    services.progress.in_hand(what_to_do(run, services.history, services.on))
    # Held until the run is closed: a journal that nobody holds is that of a driver that was killed.
    with contextlib.closing(journal):
        try:
            yield opened
        except BaseException as error:
            # Whatever the history could not take is in the journal: `assay resume` finds it there.
            with contextlib.suppress(HarnessError):
                opened.flush()
                services.store.close_run(run.id, "interrupted", judge_run(run, opened.results, services))
            if isinstance(error, WorkerFailed) and _is_kept(run, services):
                command = resume_command(run.id, services.history, services.on)
                raise WorkerFailed(f"{error}; `{command}` goes on with the run") from error
            raise
        finally:
            shutil.rmtree(services.scratch(run.id), ignore_errors=True)
        with _waiting(run, services):
            _patiently(lambda: opened.flush(last=True))
            services.progress.doing(f"judging {len(opened.results)} results")
            judgement = _patiently(lambda: judge_run(run, opened.results, services))
            _patiently(lambda: services.store.close_run(run.id, "complete", judgement))
    services.journal_path(run.id).unlink(missing_ok=True)
    services.progress.begun(0, 0)
    services.progress.in_hand("")
    complete = msgspec.structs.replace(run, status="complete")
    notes = (*_clock_notes(services), *share_run(run, services))
    opened.checked = Checked(complete, tuple(opened.results), judgement, notes=notes)


def _is_kept(run: Run, services: Services) -> bool:
    """Whether it can be gone on with: not where nothing is recorded."""
    with contextlib.suppress(RunNotFound, HarnessError):
        return resumable(services.store.run(run.id))
    return False


def _clock_notes(services: Services) -> Iterator[str]:
    """The run is recorded and judged: nobody waits for a history that went away since."""
    with contextlib.suppress(HarnessError):
        if note := clock_ahead(next(iter(services.store.runs(1)), None), datetime.now(UTC)):
            yield note


def _patiently(send: Callable[[], Value]) -> Value:
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return send()
        except StoreUnreachable:
            if time.monotonic() > until:
                raise
        time.sleep(AGAIN_S)


@contextmanager
def _waiting(run: Run, services: Services) -> Iterator[None]:
    """What to do about a server that went away: the journal has every result."""
    try:
        yield
    except StoreUnreachable as error:
        journal, command = services.journal_path(run.id), resume_command(run.id, services.history)
        raise StoreUnreachable(f"{error}; every result of the run is in {journal}: `{command}` sends them") from error


def judge_run(run: Run, results: Sequence[Result], services: Services) -> RunVerdict:
    """The run's own policy on these results, beside its baseline, and what changed since the run before."""
    baseline = compared_results(run, results, services)
    planned = [job.key for job in run.jobs]
    judgement = judge(
        results,
        run.policy,
        planned=planned,
        baseline=baseline,
        today=datetime.now(UTC).date(),
        narrowed=run.narrowed,
        alone=run.alone,
        jobs_by_key={job.key: job for job in run.jobs},
        config=config_of(run),
        exempt=tuple(run.compared.values()),
        missing=run.missing,
    )
    return with_changes(annotate_drift(judgement, run, results, services), run, results, baseline, services)


class OpenRun:
    """Journal at once, history in batches, progress told."""

    checked: Checked

    def __init__(self, run: Run, known: Sequence[Result], journal: RunJournal, services: Services) -> None:
        self.run, self.results = run, list(known)
        self._keys = {result.job_key for result in known}
        self._journal, self._services = journal, services
        self._batch: list[Result] = []
        self._flushed = time.monotonic()

    def left(self, jobs: Sequence[AnyJob]) -> list[AnyJob]:
        """Those that have no result."""
        return [job for job in jobs if job.key not in self._keys]

    def add(self, result: Result) -> None:
        """Exactly one for each job."""
        planned = len(self.run.jobs)
        result = with_log(result, self.run, self._services.folder, every=planned <= FEW_JOBS)
        self._journal.append(result)
        self.results.append(result)
        self._keys.add(result.job_key)
        self._batch.append(result)
        if time.monotonic() - self._flushed > BATCH_S:
            self.flush()
        today = datetime.now(UTC).date()
        verdict = first_verdict(result, self.run.policy, today) if planned <= FEW_JOBS else ""
        self._services.progress.recorded(len(self.results), planned, result, verdict)

    def flush(self, *, last: bool = False) -> None:
        """Send what is left. While the run goes on, a server that does not answer is asked again with the next result: the journal has all
        that was not sent."""
        self._flushed = time.monotonic()
        try:
            if self._batch:
                self._services.store.record(self.run.id, self._batch)
        except StoreUnreachable:
            if last:
                raise
            self._flushed += AGAIN_S
        else:
            self._batch = []
