"""A red verdict in, pages out: the causes, each with its smallest model and a script that was run by itself."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.job import VerifyJob
from assay.core.result import Result
from assay.pipeline.ensure_references import ensure_references
from assay.pipeline.provenance import this_machine
from assay.pipeline.services import Services
from assay.triage.cause import Cause, Doubt
from assay.triage.context import Context, end_of, failing_sample
from assay.triage.cost import with_cost
from assay.triage.findings import patterns_of_findings
from assay.triage.known import KnownCauses
from assay.triage.pages import write_pages
from assay.triage.script import run_script, state_in, write_script
from assay.triage.search import find_causes
from assay.triage.since import State
from assay.triage.symptom import UNSTABLE
from assay.triage.text import red, title_of
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
    if not cause.nodes or cause.symptom.kind == UNSTABLE:
        return cause
    flow = replace(context.job.flow, transforms=())
    path = write_script(cause, context.backend, flow, title_of(cause))
    if not path:
        return replace(cause, doubts=(*cause.doubts, Doubt.NO_SCRIPT))
    interpreter = context.services.interpreter(context.job.flow.environment)
    doubts = [*cause.doubts]
    failing = run_script(path, interpreter, "fails")
    if state_in(failing, cause.symptom) is not State.WRONG:
        doubts.append(Doubt.SCRIPT_UNCONFIRMED)
    if cause.cures and run_script(path, interpreter, "cured").exit_code != 0:
        doubts.append(Doubt.CURE_UNCONFIRMED)
    return replace(cause, script=path, doubts=tuple(doubts), printed=failing.output)
