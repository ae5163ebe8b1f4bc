"""A red verdict in, pages out: the causes, each with its smallest model and a script that was run by itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.environment import Interpreter
from assay.core.job import VerifyJob
from assay.core.result import Result
from assay.environments.releases import ScriptRun
from assay.pipeline.adapters import Services
from assay.pipeline.provenance import this_machine
from assay.pipeline.references.ensure_references import ensure_references
from assay.ports import ShowsSavedUse
from assay.triage.cause import Cause, Doubt
from assay.triage.cause_page import write_pages
from assay.triage.cause_search import find_causes, tries_for
from assay.triage.context import Context, end_of, failing_sample
from assay.triage.cost import with_cost
from assay.triage.findings import patterns_of_findings
from assay.triage.known_causes import KnownCauses
from assay.triage.script import run_script, state_in, write_script
from assay.triage.since import State
from assay.triage.symptom import UNSTABLE
from assay.triage.triage_text import red, title_of
from assay.triage.unstable import builds_for


@dataclass(frozen=True)
class RedVerdict:
    """A job that is red, and what it observed."""

    job: VerifyJob
    result: Result


def triage_verdict(
    verdict: RedVerdict, services: Services, folder: Path, deadline: float, tell: Callable[[str], None]
) -> list[Cause]:
    """Written below `folder`, which is made empty first. What was found before is not looked for again."""
    job, result = verdict.job, verdict.result
    end, known = end_of(result), KnownCauses(services.folder)
    tell(red(job.key, end))
    if causes := known.of_verdict(job, result):
        return causes
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    patterns = [*known.patterns(job.flow.backend), *patterns_of_findings(job.flow.backend)]
    sample, builds = failing_sample(result), builds_for(result)
    context = Context(job, end, sample, services, folder, deadline, patterns, tell, builds)
    causes = services.jobs.complete(_searched(context))
    shutil.rmtree(folder / "values", ignore_errors=True)
    machine = this_machine().kind
    now = datetime.now(UTC).isoformat(timespec="seconds")
    finished = [replace(_finished(cause, context), machine=machine, found_at=now) for cause in causes]
    finished = [with_cost(cause, job, services, deadline) for cause in finished]
    for cause in finished:
        write_pages(cause)
    known.keep(job, result, finished)
    return finished


async def _searched(context: Context) -> list[Cause]:
    await ensure_references([context.job], context.services)
    return await find_causes(context)


def _finished(cause: Cause, context: Context) -> Cause:
    """With its script, run by itself before anybody sees it."""
    told_again = cause.known_as and not cause.known_title
    if not cause.nodes or told_again or cause.symptom.kind == UNSTABLE:
        return cause
    completed, failing = _with_script(cause, context)
    if not completed.script:
        # Without time there may be no small model yet, and that was said.
        why = () if Doubt.OUT_OF_TIME in completed.doubts else (Doubt.NO_SCRIPT,)
        return replace(completed, doubts=(*completed.doubts, *why))
    doubts = [*completed.doubts]
    if state_in(failing, completed.symptom) is not State.WRONG:
        doubts.append(Doubt.SCRIPT_UNCONFIRMED)
    if completed.cures and run_script(completed.script, _interpreter(context), "cured").exit_code != 0:
        doubts.append(Doubt.CURE_UNCONFIRMED)
    return replace(completed, doubts=tuple(doubts), printed=failing.output)


def _with_script(cause: Cause, context: Context) -> tuple[Cause, ScriptRun]:
    """Of the engine as it is built; where that is right, of what is saved and loaded again: Assay itself runs that."""
    plain, failing = _scripted(cause, context)
    wrong = state_in(failing, cause.symptom) is State.WRONG
    if wrong or not plain.script or not isinstance(context.backend, ShowsSavedUse):
        return plain, failing
    saved, again = _scripted(replace(cause, saved=True), context)
    return (saved, again) if state_in(again, cause.symptom) is State.WRONG else _scripted(cause, context)


def _scripted(cause: Cause, context: Context) -> tuple[Cause, ScriptRun]:
    path = write_script(cause, context.backend, replace(context.job.flow, transforms=()), title_of(cause))
    run = run_script(path, _interpreter(context), "fails") if path else ScriptRun(None)
    # What fails seldom may be right by chance.
    for _ in range(1, tries_for(cause.failed / cause.tries) if path else 1):
        if state_in(run, cause.symptom) is State.WRONG:
            break
        run = run_script(path, _interpreter(context), "fails")
    return replace(cause, script=path), run


def _interpreter(context: Context) -> Interpreter:
    return context.services.interpreter(context.job.flow.environment)
