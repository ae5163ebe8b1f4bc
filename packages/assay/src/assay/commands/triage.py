"""`assay triage` as a function: every red verdict of a model or of a run, to its cause."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard

from assay import plugins
from assay.commands.check import prepared
from assay.commands.composition import open_services
from assay.commands.same_request import request_key
from assay.core.job import VerifyJob
from assay.core.job_base import Job, JobKind
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import EnvironmentFailed, RunNotFound, UsageError
from assay.options.check import check_options
from assay.options.groups import DEFAULT_HISTORY
from assay.options.triage import TriageOptions
from assay.pipeline.adapters import Services
from assay.pipeline.check import check
from assay.pipeline.open_run import judge_run
from assay.pipeline.progress import SILENT, Progress
from assay.triage.builds import Builds, commits
from assay.triage.cause import Cause
from assay.triage.cause_page import write_pages
from assay.triage.context import end_of
from assay.triage.known_causes import KnownCauses
from assay.triage.other_releases import with_builds, with_since
from assay.triage.slow import cause_of_slowness, slow_jobs
from assay.triage.triage import RedVerdict, triage_verdict

RED = (VerdictStatus.FAIL, VerdictStatus.ERROR)
MODELS = (".onnx", ".pt2")
SPEED = (JobKind.MEASURE, JobKind.COMPARE_SPEED)


@dataclass(frozen=True)
class Triaged:
    """`causes` of each red verdict, gravest first; `left` are sentences about those that were not looked into."""

    causes: tuple[Cause, ...]
    left: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0: nothing is red; 1 else."""
        return 1 if self.causes or self.left else 0


def run_triage(
    options: TriageOptions, progress: Progress = SILENT, tell: Callable[[str], None] = lambda text: None
) -> Triaged:
    """Raises UsageError for a run without a red job, and for a job that is not there or not red."""
    key = request_key(options) if not options.job else ""
    known = KnownCauses(Path(DEFAULT_HISTORY if "://" in options.history else options.history or DEFAULT_HISTORY))
    if key and (causes := known.of_request(key)):
        return Triaged(tuple(causes))
    triaged = _triaged(options, progress, tell)
    if key and not triaged.left:
        known.keep_request(key, triaged.causes)
    return triaged


@contextmanager
def _builds(options: TriageOptions) -> Iterator[Builds | None]:
    """Those that the user names; None where no command makes any. Raises UsageError for options that do not go together."""
    if not options.build_command:
        if options.builds or options.source or options.good:
            raise UsageError("--build, --source and --good need --build-command, which makes a build")
        yield None
    elif options.source is not None and not options.builds:
        if not options.good:
            raise UsageError("--source needs --good COMMIT: one that is right")
        with commits(options.build_command, options.source, options.good, options.bad) as made:
            yield made
    elif len(options.builds) > 1 and options.source is None:
        yield Builds(options.build_command, options.builds)
    else:
        raise UsageError(
            "--build-command needs the builds: --build NAME twice or more, the oldest first, or --source FOLDER"
        )


def _triaged(options: TriageOptions, progress: Progress, tell: Callable[[str], None]) -> Triaged:
    with _builds(options) as builds, _opened(options, progress) as (run, results, judgement, services):
        by_key = {result.job_key: result for result in results}
        jobs, other = _red(run, judgement, options.job, by_key)
        left: list[str] = []
        verdicts = [RedVerdict(job, by_key[job.key]) for job in jobs]
        verdicts.sort(key=_gravity)
        causes: list[Cause] = []
        for verdict in verdicts:
            folder = _folder(options, verdict.job)
            deadline = time.monotonic() + options.time_limit_s
            causes_of_verdict = triage_verdict(verdict, services, folder, deadline, tell)
            if options.since:
                backend = plugins.load("assay.backends", verdict.job.flow.backend)()
                later = time.monotonic() + options.time_limit_s
                try:
                    causes_of_verdict = [with_since(cause, backend, later, tell) for cause in causes_of_verdict]
                except EnvironmentFailed as error:
                    left.append(f"since when is not known: {error}")
            if builds is not None:
                causes_of_verdict = [with_builds(cause, builds, math.inf, tell) for cause in causes_of_verdict]
            causes += causes_of_verdict
        slow_keys = slow_jobs(run, results, services) if other else frozenset()
        for job in (candidate for candidate in run.jobs if candidate.key in other):
            is_slow = job.key in slow_keys
            folder = _folder(options, job, job.kind.value)
            slow = cause_of_slowness(job, by_key[job.key], folder) if is_slow else None
            if slow is None:
                recorded = job.key in by_key
                left.append(_not_looked_into(job, other[job.key], is_slow=is_slow, recorded=recorded))
            else:
                write_pages(slow)
                causes.append(slow)
        return Triaged(tuple(causes), tuple(left))


def _folder(options: TriageOptions, job: Job, kind: str = "") -> Path:
    """Of answers, which is made empty for each search; of another `kind` one of its own."""
    return (options.output / _safe(f"{job.case.name}-{job.subject}-{kind}")).absolute()


def _gravity(verdict: RedVerdict) -> tuple[bool, float]:
    """What gives no answer first, then by how far the answer is off."""
    end = end_of(verdict.result)
    return end.kind == "values", -end.size


@contextmanager
def _opened(options: TriageOptions, progress: Progress) -> Iterator[tuple[Run, Sequence[Result], RunVerdict, Services]]:
    if _is_model(options.target):
        if options.job:
            raise UsageError("--job names a job of a run, and this is a model; leave it out, or name the run")
        model_request = replace(
            check_options(options), models=(Path(options.target),), only_kind="verify", command=options.command
        )
        with prepared(model_request, progress) as (request, services):
            checked = check(request, services)
            yield checked.run, checked.results, checked.judgement, services
        return
    with open_services(options.history or DEFAULT_HISTORY, workers=options.workers, progress=progress) as services:
        try:
            run = services.store.run(options.target)
        except RunNotFound as error:
            raise RunNotFound(f"{options.target!r} is no file, and {error}") from None
        results = services.store.results(run.id)
        yield run, results, judge_run(run, results, services), services


def _is_model(target: str) -> bool:
    return Path(target).suffix.lower() in MODELS or Path(target).is_file() or ":" in target


def _red(
    run: Run, judgement: RunVerdict, only: str, results: Mapping[str, Result]
) -> tuple[list[VerifyJob], dict[str, str]]:
    """The jobs to look into, and why each red one that asks no answers is red. Raises UsageError."""
    named = bool(only) or len(run.jobs) == 1
    red = {
        verdict.job_key: verdict
        for verdict in judgement.verdicts
        if verdict.job_key and _is_red(verdict, results, named=named)
    }
    jobs = {job.key: job for job in run.jobs}
    if only and only not in jobs:
        raise UsageError(f"run {run.id} has no job {only!r}; `assay report {run.id}` names them")
    if only and only not in red:
        raise UsageError(f"job {only!r} of run {run.id} is not red: there is nothing to triage")
    if not red:
        raise UsageError(f"run {run.id} has no red job: there is nothing to triage")
    chosen = [only] if only else list(red)
    jobs_by_cell: dict[tuple[str, str], VerifyJob] = {}
    other: dict[str, str] = {}
    for key in chosen:
        job = jobs[key]
        if _asks_answers(job) and key in results:
            jobs_by_cell[job.case.name, job.flow.name] = job
    for key in chosen:
        job = jobs[key]
        answered = (job.case.name, job.subject) in jobs_by_cell
        if (key not in results) if _asks_answers(job) else (job.kind in SPEED or not answered):
            other[key] = red[key].reason
    return [*jobs_by_cell.values()], other


def _asks_answers(job: Job) -> TypeGuard[VerifyJob]:
    return isinstance(job, VerifyJob) and job.case.misuse is None and job.case.body is None


def _is_red(verdict: Verdict, results: Mapping[str, Result], *, named: bool) -> bool:
    """Also what differs from the reference and nobody vouches for: where it differs is what decides it. A refusal is none, unless the user
    named that job alone: then the question is what is refused."""
    if verdict.word in RED:
        return True
    result = results.get(verdict.job_key)
    if named and result is not None and result.outcome is Outcome.UNSUPPORTED:
        return True
    differs = result is not None and result.outcome is Outcome.MISMATCH
    return verdict.word is VerdictStatus.INCONCLUSIVE and differs


def _not_looked_into(job: Job, reason: str, *, is_slow: bool, recorded: bool) -> str:
    if not recorded:
        return f"{job.key} is red ({reason}): there is no answer to look into yet"
    what = f"this is a {job.kind.value} job"
    if isinstance(job, VerifyJob):
        what = "this one asks what comes of a wrong use" if job.case.misuse else "this one compares two models"
    elif job.kind in SPEED:
        what = "the engine has no profile of its operators" if is_slow else "it broke no limit on the time of a call"
    return f"{job.key} is red ({reason}): triage looks into answers and the time of operators, and {what}"


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model"
