"""A red verdict in, pages out: the causes, each with its smallest model and a script that was run by itself."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.job import VerifyJob
from assay.core.result import Result
from assay.environments.releases import (
    list_releases,
    older_releases,
    release_key,
    releases_at_hand,
    run_with_release,
)
from assay.errors import EnvironmentFailed
from assay.pipeline.ensure_references import ensure_references
from assay.pipeline.provenance import this_machine
from assay.pipeline.services import Services
from assay.ports import Backend, ShowsPlainUse
from assay.triage.builds import Builds, bisect
from assay.triage.cause import Cause, Doubt
from assay.triage.context import Context, end_of, failing_sample
from assay.triage.cost import with_cost
from assay.triage.findings import patterns_of_findings
from assay.triage.known import KnownCauses
from assay.triage.pages import write_pages
from assay.triage.script import DONE, run_script, state_in, write_script
from assay.triage.search import find_causes
from assay.triage.since import History, State, scan
from assay.triage.symptom import UNSTABLE
from assay.triage.text import red, title_of
from assay.triage.unstable import builds_for

RELEASE_S = 180.0
"""To install one release and run the script with it."""


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


def with_builds(cause: Cause, builds: Builds, deadline: float, tell: Callable[[str], None]) -> Cause:
    """What builds of the user's own make of its script: the first bad one, by bisection."""
    if not cause.script or Doubt.SCRIPT_UNCONFIRMED in cause.doubts:
        return cause

    def probe(name: str) -> State:
        interpreter = builds.made(name)
        run = run_script(cause.script, interpreter, "fails") if interpreter else None
        state = state_in(run, cause.symptom) if run else State.UNTESTABLE
        tell(f"{builds.unit} {name}: {state.value}")
        return state

    found = replace(cause, since=bisect(builds.names, probe, deadline, builds.unit))
    write_pages(found)
    return found


def with_since(cause: Cause, backend: Backend, deadline: float, tell: Callable[[str], None]) -> Cause:
    """What other releases make of its script. Raises EnvironmentFailed where they cannot be listed or installed."""
    if not cause.script or not isinstance(backend, ShowsPlainUse) or Doubt.SCRIPT_UNCONFIRMED in cause.doubts:
        return cause
    packages = backend.plain_packages
    here, pythons, offline = cause.versions.get(packages[0], ""), dict[str, str](), False
    try:
        releases = list_releases(packages[0])
    except EnvironmentFailed as error:
        releases, offline = sorted({*releases_at_hand(packages[0]), *filter(None, [here])}, key=release_key), True
        tell(f"{error}: {len(releases)} releases are at hand")

    def probe(version: str) -> State:
        python = pythons.get(version, "")
        run = run_with_release(cause.script, packages, version, RELEASE_S, DONE, python=python, offline=offline)
        state = state_in(run, cause.symptom)
        tell(f"{packages[0]} {version}{f' on Python {python}' if python else ''}: {state.value}")
        return state

    history = scan(releases, probe, deadline, here)
    if history.begins_wrong and not offline and time.monotonic() < deadline:
        pythons = older_releases(packages[0], releases)
        older = scan([*pythons, releases[0]], probe, deadline, releases[0]) if pythons else History(complete=True)
        history = replace(
            history, states={**older.states, **history.states}, complete=history.complete and older.complete
        )
    found = replace(cause, since=replace(history, at_hand=offline))
    write_pages(found)
    return found
