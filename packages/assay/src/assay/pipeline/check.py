"""`assay check` on one page, from the request to the verdict. Every command that records a run goes on from `record_run`.

    inspect -> plan -> reference -> tolerance -> verify -> per node -> measure -> compare -> judge

Each case goes its own way, as far as what it needs is there (`CaseRoute.follow`); all cases are under way at once, in one queue of jobs
(`pipeline.job_graph`). Measuring waits until nothing else runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from itertools import chain
from typing import TypeVar

from assay.core.job import AnyJob
from assay.core.job_base import Job, JobKind
from assay.core.result import Result
from assay.core.run import Run
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked, OpenRun, open_run
from assay.pipeline.plan import plan
from assay.pipeline.references.ensure_references import (
    ensure_references,
    is_wrong_input,
    reject_wrong_inputs,
    without_reference,
    wrong_labels,
)
from assay.pipeline.references.late_references import engines_out_of_time, left_unasked, not_answered
from assay.pipeline.references.originals import record_originals
from assay.pipeline.references.verify_stages import VerifyStages, coarse_suffices
from assay.pipeline.request import Request
from assay.pipeline.two_process_comparison import comparisons
from assay.pipeline.unavailable import left_unbuilt, unavailable
from assay.pipeline.witnesses.ask_witnesses import Witnessed
from assay.pipeline.witnesses.refused_inputs import RefusedInputs

_Job = TypeVar("_Job", bound=Job)


def check(request: Request, services: Services) -> Checked:
    """Everything the request asks for. Raises UsageError before anything ran, HarnessError when the machine fails."""
    return services.jobs.complete(_check(request, services))


async def _check(request: Request, services: Services) -> Checked:
    return await record_run(await plan(request, services), services)


async def record_run(run: Run, services: Services, known: Sequence[Result] = (), *, resumed: bool = False) -> Checked:
    """A planned run, from its first job to its verdict; see `open_run`."""
    with open_run(run, services, known, resumed=resumed) as opened:
        await run_jobs(opened, services)
    return opened.checked


async def run_jobs(opened: OpenRun, services: Services) -> None:
    """The jobs of the run that have no result yet. Also how an interrupted run goes on."""
    for result in unavailable(opened.left(opened.run.jobs), services):
        opened.add(result)
    route = CaseRoute(opened, services)
    jobs = opened.left(opened.run.jobs)
    # What has no inputs is shown only where something else has: else nothing ran, and the user has to say more.
    without_inputs = [*chain.from_iterable(await services.jobs.all_of(map(route.follow, by_case(jobs))))]
    reject_wrong_inputs(without_inputs, jobs)
    for result in without_inputs:
        opened.add(result)


def by_case(jobs: Sequence[_Job]) -> list[list[_Job]]:
    """The jobs of each case, in the order of the run."""
    cases: dict[str, list[_Job]] = {}
    for job in jobs:
        cases.setdefault(job.case.name, []).append(job)
    return [*cases.values()]


class CaseRoute:
    """The way of a case through a run."""

    def __init__(self, opened: OpenRun, services: Services) -> None:
        goals, coarse = opened.run.policy.goals, coarse_suffices(opened.run)
        self._opened, self._services, self._coarse = opened, services, coarse
        self._stages: dict[JobKind, Callable[[Sequence[Job]], AsyncIterator[Result]]] = {
            JobKind.CHANGE: Witnessed(services, VerifyStages(services, coarse=False), goals).results,
            JobKind.VERIFY: RefusedInputs(
                services, Witnessed(services, VerifyStages(services, coarse=coarse), goals)
            ).results,
            JobKind.PER_NODE: Witnessed(services, services.jobs).results,
            JobKind.MEASURE: services.jobs.alone,
            JobKind.COMPARE_SPEED: lambda of_kind: comparisons(of_kind, services),
        }

    async def follow(self, jobs: Sequence[AnyJob]) -> list[Result]:
        """Records a result for each job, but for those for which no inputs were found: their results are returned."""
        self._services.jobs.expect(job for job in jobs if job.kind is JobKind.VERIFY)
        lacking = await record_originals(jobs, self._services)
        jobs, without_inputs = self._without(jobs, lacking)
        jobs, _ = self._without(jobs, await engines_out_of_time(jobs, self._services, coarse=self._coarse))
        lacking = await ensure_references(jobs, self._services)
        jobs, lacking = without_reference(jobs, lacking)
        jobs, more = self._without(jobs, lacking)
        for kind, results in self._stages.items():
            if of_kind := [job for job in jobs if job.kind is kind]:
                ended: list[Result] = []
                async for result in results(of_kind):
                    if kind is JobKind.VERIFY and (wrong := wrong_labels(jobs, result)):
                        ended += wrong
                        without_inputs += wrong
                        continue
                    self._opened.add(result)
                    if kind is JobKind.VERIFY:
                        ended += left_unasked(jobs, result) if not_answered(result) else left_unbuilt(jobs, result)
                jobs, _ = self._without(jobs, ended)
        return without_inputs + more

    def _without(self, jobs: Sequence[AnyJob], lacking: Sequence[Result]) -> tuple[list[AnyJob], list[Result]]:
        """The jobs that can go on, and the results of those without inputs; the results of others are recorded."""
        for result in lacking:
            if not is_wrong_input(result):
                self._opened.add(result)
        keys = {refusal.job_key for refusal in lacking}
        return [job for job in jobs if job.key not in keys], [refusal for refusal in lacking if is_wrong_input(refusal)]
