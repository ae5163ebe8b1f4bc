"""The gate under test on one page: sound? -> list -> draw -> run like any engine -> explain what passed -> the kill rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import AnyJob, MutationScoreJob, PerNodeJob, VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.policy import Expectation, Policy
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.errors import UsageError
from assay.judge.metric_registry import recorded_by
from assay.judge.outcome_table import COMPARED, FAILURES, OUTCOMES
from assay.pipeline.adapters import Services
from assay.pipeline.check import by_case, record_run, run_jobs
from assay.pipeline.mutants.mutation_score import Score, summary
from assay.pipeline.mutants.sample_mutants import GateJob, Injected, list_mutants, mutant_jobs, sample_mutants
from assay.pipeline.mutants.survivors import explain
from assay.pipeline.open_run import Checked, OpenRun, judge_run, open_run
from assay.pipeline.plan import reference_dir
from assay.pipeline.provenance import new_run_id, provenance, this_machine
from assay.pipeline.references.ensure_references import ensure_references, reject_wrong_inputs
from assay.pipeline.references.tolerances import with_tolerances
from assay.pipeline.witnesses.ask_witnesses import Witnessed

CAUGHT = tuple(outcome.value for outcome in OUTCOMES if outcome in COMPARED | FAILURES)
"""How a gate may see a mutant."""
BUILDING = (Stage.START, Stage.IMPORT, Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD)
"""What ends here was refused by the backend: no gate was asked."""


@dataclass(frozen=True, kw_only=True)
class MutateRequest:
    """`name` is what the kill rate is said of: the model, or the suite. `most` bounds the mutants of a flow (0: no bound),
    `sites` those of one operator in one case; `seed` draws them and the search's inputs; `only` keeps one job; `per_node` judges
    node by node instead of at the outputs. `unmade` are cases that have no files, and why."""

    name: str
    cases: tuple[Case, ...]
    flows: tuple[Flow, ...]
    unmade: Mapping[str, str] = field(default_factory=dict)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    most: int = 120
    sites: int = 3
    seed: int = 0
    command: str = "assay mutate"
    only: str = ""
    per_node: bool = False


@dataclass(frozen=True)
class Mutated:
    """`checked` is the run as recorded, `scores` one for each flow; `unsound` says why nothing was mutated at all."""

    checked: Checked
    scores: tuple[Score, ...] = ()
    unsound: str = ""


def mutate(request: MutateRequest, services: Services, workspace: Path) -> Mutated:
    """List, draw, run, judge, explain. Candidate inputs stay in `workspace`, an existing folder of the caller's.

    Raises UsageError before anything ran. What fails without any mutant is not mutated: every mutant of it would be
    "killed". Where nothing is left the failures are what is recorded, and `Mutated.unsound` says so.
    """
    return services.jobs.complete(mutated(request, services, workspace))


async def mutated(request: MutateRequest, services: Services, workspace: Path) -> Mutated:
    """See `mutate`."""
    jobs = [_job(case, flow, request, services) for flow in request.flows for case in request.cases]
    failed, judgement = await _failing(jobs, request, services)
    services.progress.begun(0, 0)
    sound = [job for job in jobs if job.key not in failed]
    if not sound:
        checked = await record_run(_run(request, jobs, _plain(request.policy), services), services)
        return Mutated(checked, unsound=judgement.run.reason)
    listed, unlisted = await list_mutants(sound, request.sites, request.seed, workspace, services)
    if not listed:
        raise UsageError(f"{request.cases[0].model.source}: {next(iter(unlisted.values()))}")
    untried = {**failed, **unlisted}
    lanes = [_flow_mutants(flow, sound, listed, untried, request) for flow in request.flows]
    mutants = [job for lane in lanes for job in lane.jobs.values()]
    if request.only and not mutants:
        raise UsageError(f"no mutant here is called {request.only!r}; run without --only to see all")
    summaries = [lane.summary for lane in lanes] if mutants else []
    with open_run(_run(request, [*mutants, *summaries], _policy(request), services), services) as opened:
        await run_jobs(opened, services)
        scores = [await _score(lane, opened, workspace / str(place), services) for place, lane in enumerate(lanes)]
        for job, score in zip(summaries, scores, strict=False):
            opened.add(summary(job, score))
    return Mutated(opened.checked, tuple(scores))


@dataclass(frozen=True)
class _FlowMutants:
    """One flow: its mutants as jobs, the cases it was not tried on, and the job that sums up."""

    flow: Flow
    jobs: Mapping[Injected, GateJob]
    untried: Mapping[str, str]
    summary: MutationScoreJob


def _flow_mutants(
    flow: Flow, sound: Sequence[GateJob], listed: Mapping[str, list[Injected]], untried: Mapping[str, str], request: MutateRequest
) -> _FlowMutants:  # fmt: skip
    own = {job.case.name: job for job in sound if job.flow == flow}
    drawn = sample_mutants(
        [injected for job in own.values() for injected in listed.get(job.key, ())], request.most, request.seed
    )
    jobs = mutant_jobs(drawn, own)
    if request.only:
        jobs = {injected: job for injected, job in jobs.items() if job.key == request.only}
    mine = {key.split("|")[0]: why for key, why in untried.items() if key.split("|")[1] == flow.name}
    single = request.cases[0] if len(request.cases) == 1 else None
    said_of = single if single and single.name == request.name else Case(request.name, Model(request.name, "", ""))
    return _FlowMutants(flow, jobs, {**request.unmade, **mine}, MutationScoreJob(said_of, flow, limits=request.limits))


def _job(case: Case, flow: Flow, request: MutateRequest, services: Services) -> GateJob:
    reference = "" if case.inputs.golden else str(reference_dir(case, services.folder))
    kind = PerNodeJob if request.per_node else VerifyJob
    return kind(case, flow, limits=request.limits, reference_dir=reference)


async def _failing(
    jobs: Sequence[GateJob], request: MutateRequest, services: Services
) -> tuple[dict[str, str], RunVerdict]:
    """By job key, why it fails without any mutant."""
    done: list[Result] = []
    services.progress.begun(0, len(jobs))
    stage = Witnessed(services, services.jobs)

    async def of_case(own: Sequence[GateJob]) -> list[Result]:
        lacking = await ensure_references(own, services)
        done.extend(lacking)
        known = {result.job_key for result in lacking}
        left = [job for job in own if job.key not in known]
        async for result in stage.results(await with_tolerances(left, services)):
            done.append(result)
            services.progress.recorded(len(done), len(jobs), result, "")
        return lacking

    lacking = await services.jobs.all_of(map(of_case, by_case(jobs)))
    reject_wrong_inputs([*chain.from_iterable(lacking)], jobs)
    judged = judge_run(_run(request, jobs, _plain(request.policy), services), done, services)
    finer = {result.job_key for result in done if result.outcome is Outcome.OTHER_PRECISION}
    bad = {
        verdict.job_key: verdict.reason
        for verdict in judged.verdicts
        if verdict.word is not VerdictStatus.PASS
        and not (verdict.word is VerdictStatus.INCONCLUSIVE and verdict.job_key in finer)
    }
    return {job.key: f"fails without any mutant: {bad[job.key]}" for job in jobs if job.key in bad}, judged


def _run(request: MutateRequest, jobs: Sequence[AnyJob], policy: Policy, services: Services) -> Run:
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    return Run(
        id=run_id,
        command=request.command,
        jobs=tuple(replace(job, scratch=str(services.scratch(run_id))) for job in jobs),
        policy=policy,
        **provenance(now, this_machine()),
        narrowed=True,
    )


def _plain(policy: Policy) -> Policy:
    """What makes an answer wrong, and no more: an engine that is finer than it promises can be mutated like any other."""
    return Policy(
        budget_max=policy.budget_max,
        fail_on=tuple(outcome for outcome in policy.fail_on if outcome != Outcome.OTHER_PRECISION.value),
    )


def _policy(request: MutateRequest) -> Policy:
    """Of the user's policy what concerns mutants and tolerances; that a mutant is caught is what is hoped for."""
    policy = request.policy
    return Policy(
        goals=tuple(goal for goal in policy.goals if recorded_by(goal.metric) == "mutation_score"),
        expectations=tuple(
            Expectation("*", f"{flow.name}+*", outcome, "a mutant: the gate should see it", strict=False)
            for flow in request.flows
            for outcome in CAUGHT
        ),
        budget_max=policy.budget_max,
        fail_on=tuple(outcome for outcome in policy.fail_on if outcome in CAUGHT),
    )


async def _score(lane: _FlowMutants, opened: OpenRun, folder: Path, services: Services) -> Score:
    """Killed, survived, unbuilt: by the verdicts of the run's own policy."""
    by_key = {result.job_key: result for result in opened.results}
    words = {verdict.job_key: verdict.word for verdict in judge_run(opened.run, opened.results, services).verdicts}
    scratch = str(services.scratch(opened.run.id))
    killed, unbuilt, passed = {}, {}, {}
    for injected, job in lane.jobs.items():
        result, word = by_key[job.key], words[job.key]
        if word in (VerdictStatus.SKIP, VerdictStatus.ERROR) or (
            result.stage in BUILDING and result.outcome is not Outcome.OK
        ):
            unbuilt[injected] = result
        elif word in (VerdictStatus.XFAIL, VerdictStatus.FAIL):
            killed[injected] = result
        else:
            passed[injected] = (replace(job, scratch=scratch), result)
    survivors = await explain(passed, lane.flow, folder, services) if passed else {}
    return Score(lane.flow, killed, survivors, unbuilt, lane.untried)
