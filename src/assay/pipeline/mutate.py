"""The gate under test: mutants of one model through one flow, judged like any engine; how many does the golden set kill?"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.blank import blank_result
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import Job, Limits, Task
from assay.core.model import Model
from assay.core.policy import Expectation, Policy
from assay.core.result import Outcome, Result, Stage
from assay.core.run import Run
from assay.core.verdict import Word
from assay.errors import UsageError
from assay.judge.figure_table import home_task
from assay.models.goldens import read_golden, write_golden
from assay.pipeline.check import Checked, carry_out, judge_run
from assay.pipeline.house import House
from assay.pipeline.plan import PACKAGES, look, oracle_folder
from assay.pipeline.profiles import with_profiles
from assay.pipeline.provenance import git_commit, new_run_id, this_machine, versions
from assay.pipeline.reference import record_references
from assay.pipeline.request import ModelRequest
from assay.pipeline.survivors import Survivor, explain
from assay.stats.proportion import wilson

CAUGHT = ("mismatch", "nondeterministic", "mistrusted", "crash", "timeout", "out_of_memory", "error")
"""How a gate may see a mutant."""
BUILDING = (Stage.START, Stage.IMPORT, Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD)
"""What ends here was refused by the backend: no gate was asked."""


@dataclass(frozen=True, kw_only=True)
class MutateRequest:
    """`model.flows` is one flow. `most` bounds the mutants (0: no bound), `sites` those of one operator; `seed` draws them and
    the search's inputs; `only` keeps one job; `local` judges node by node instead of at the outputs."""

    model: ModelRequest
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    most: int = 120
    sites: int = 3
    seed: int = 0
    command: str = "assay mutate"
    only: str = ""
    local: bool = False


@dataclass(frozen=True)
class Mutated:
    """`checked` is the run as recorded. Mutants by name (`drop-bias@conv1`): killed, with how; survived, with why; unbuilt."""

    checked: Checked
    killed: Mapping[str, Result] = field(default_factory=dict)
    survivors: tuple[Survivor, ...] = ()
    unbuilt: Mapping[str, Result] = field(default_factory=dict)
    unsound: str = ""

    @property
    def counted(self) -> int:
        """Those that a perfect gate would kill, as far as is known."""
        return len(self.killed) + len(self.survived)

    @property
    def survived(self) -> tuple[Survivor, ...]:
        """Without the equivalent ones."""
        return tuple(one for one in self.survivors if one.kind != "equivalent")

    @property
    def interval(self) -> tuple[float, float]:
        """Of the kill rate, Wilson, 95 %."""
        return wilson(len(self.killed), self.counted)


def mutate(request: MutateRequest, house: House, workspace: Path) -> Mutated:
    """List, draw, run, judge, explain. Candidate inputs stay in `workspace`, an existing folder of the caller's.

    Raises UsageError before anything ran. An engine that fails without any mutant is recorded as such, and no mutant is run:
    `Mutated.unsound` says why.
    """
    (flow,) = request.model.flows
    (case,) = look([request.model], request.limits, house)
    task = Task.LOCAL if request.local else Task.VERIFY
    sound = Job(case, flow, task, request.limits, reference=_reference(case, house))
    unsound = _unsound(sound, request, house)
    if unsound:
        run = _run(request, (sound,), house)
        return Mutated(carry_out(run, [], house), unsound=unsound)
    names = _draw(_list(sound, request, workspace, house), request.most, request.seed)
    jobs = {name: replace(sound, flow=_mutated(flow, name)) for name in names}
    if request.only:
        jobs = {name: job for name, job in jobs.items() if job.key == request.only}
        if not jobs:
            raise UsageError(f"no mutant of this model is called {request.only!r}; run without --only to see all")
    summary = (replace(sound, task=Task.MUTATE),) if jobs else ()
    run = _run(request, (*jobs.values(), *summary), house)
    jobs = dict(zip(jobs, run.jobs, strict=False))
    told = Mutated(Checked(run, (), judge_run(run, [], house)))

    def conclude(results: Sequence[Result]) -> Sequence[Result]:
        nonlocal told
        told = _sort(run, jobs, results, flow, workspace, house)
        return [_summary(run.jobs[-1], told)] if jobs else []

    checked = carry_out(run, [], house, conclude=conclude)
    return dataclasses.replace(told, checked=checked)


def with_goldens(model: ModelRequest, folders: Sequence[Path], workspace: Path) -> ModelRequest:
    """The model with the samples of several golden sets as one, labels apart. Raises BadGolden."""
    if len(folders) < 2:
        return model
    parts = [read_golden(folder) for folder in folders]
    target = workspace / "golden"
    write_golden(
        target,
        model=Model(parts[0].lock.model_name, str(model.path), parts[0].lock.model_digest),
        inputs=[sample for part in parts for sample in part.inputs],
        outputs=[sample for part in parts for sample in part.outputs],
        seed=parts[0].lock.seed,
        producer=parts[0].lock.producer,
        producer_version=parts[0].lock.producer_version,
        who=parts[0].lock.who,
        why=" + ".join(str(folder) for folder in folders),
        created_at=parts[0].lock.created_at,
    )
    return dataclasses.replace(
        model, inputs=replace(model.inputs, golden=str(target)), contract=replace(model.contract, task=None)
    )


def _reference(case: Case, house: House) -> str:
    return "" if case.inputs.golden else str(oracle_folder(case, house.folder))


def _unsound(sound: Job, request: MutateRequest, house: House) -> str:
    """Why the flow fails without any mutant; "" where it does not. Every mutant of an engine that fails is "killed"."""
    missing = record_references([sound], house)
    (result,) = missing or list(house.pool.launch(with_profiles([sound], house)))
    judged = judge_run(_run(request, (sound,), house, record=False), [result], house)
    return "" if judged.exit_code == 0 else judged.run.reason


def _list(sound: Job, request: MutateRequest, workspace: Path, house: House) -> list[str]:
    target = workspace / "mutants.json"
    inputs = replace(sound.case.inputs, seed=request.seed, samples=request.sites)
    job = replace(sound, case=replace(sound.case, inputs=inputs), task=Task.MUTANTS, reference=str(target))
    (result,) = house.pool.launch([job])
    if result.outcome is not Outcome.OK:
        raise UsageError(f"{sound.case.model.source}: no mutant can be made of it: {result.detail}")
    return msgspec.json.decode(target.read_bytes(), type=list[str])


def _draw(names: Sequence[str], most: int, seed: int) -> list[str]:
    """At most `most`, spread over the operators; which operators get one more is drawn by the seed."""
    if not most or len(names) <= most:
        return list(names)
    import random

    by_operator: dict[str, list[str]] = {}
    for name in names:
        by_operator.setdefault(name.partition("@")[0], []).append(name)
    operators = sorted(by_operator)
    random.Random(seed).shuffle(operators)
    deep = max(map(len, by_operator.values()))
    rounds = [by_operator[one][turn] for turn in range(deep) for one in operators if turn < len(by_operator[one])]
    chosen = set(rounds[:most])
    return [name for name in names if name in chosen]


def _mutated(flow: Flow, name: str) -> Flow:
    # A bar would end the flow's part of a job key.
    shown = f"{flow.name}+{name}".replace("|", "¦")
    return replace(flow, name=shown, transforms=(*flow.transforms, f"mutant:{name}"))


def _run(request: MutateRequest, jobs: tuple[Job, ...], house: House, *, record: bool = True) -> Run:
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    (flow,) = request.model.flows
    mutants = len(jobs) > 1
    run = Run(
        id=run_id,
        started_at=now.isoformat(timespec="seconds"),
        command=request.command,
        jobs=tuple(replace(job, scratch=str(house.scratch(run_id))) for job in jobs),
        policy=_policy(request.policy, jobs[0].case.name if jobs else "", flow) if mutants else _plain(request.policy),
        machine=this_machine(),
        versions=versions(PACKAGES),
        commit=git_commit(Path.cwd()),
        narrowed=True,
    )
    if record:
        house.store.open_run(run)
    return run


def _plain(policy: Policy) -> Policy:
    return Policy(budget_max=policy.budget_max, fail_on=policy.fail_on)


def _policy(policy: Policy, case: str, flow: Flow) -> Policy:
    """Of the user's policy what concerns mutants and tolerances; that a mutant is caught is what is hoped for."""
    return Policy(
        goals=tuple(goal for goal in policy.goals if home_task(goal.figure) == "mutate"),
        expectations=tuple(
            Expectation(case, f"{flow.name}+*", outcome, "a mutant: the gate should see it", strict=False)
            for outcome in CAUGHT
        ),
        budget_max=policy.budget_max,
        fail_on=tuple(one for one in policy.fail_on if one in CAUGHT),
    )


def _sort(
    run: Run, jobs: Mapping[str, Job], results: Sequence[Result], flow: Flow, workspace: Path, house: House
) -> Mutated:
    """Killed, survived, unbuilt: by the verdicts of the run's own policy."""
    by_key = {result.job_key: result for result in results}
    judgement = judge_run(run, results, house)
    words = {verdict.job_key: verdict.word for verdict in judgement.verdicts}
    killed, unbuilt, passed = {}, {}, {}
    for name, job in jobs.items():
        result = by_key[job.key]
        if words[job.key] in (Word.SKIP, Word.ERROR) or (result.stage in BUILDING and result.outcome is not Outcome.OK):
            unbuilt[name] = result
        elif words[job.key] in (Word.XFAIL, Word.FAIL):
            killed[name] = result
        else:
            passed[name] = (job, result)
    survivors = explain(passed, flow, workspace / "candidates", house) if passed else []
    return Mutated(Checked(run, tuple(results), judgement), killed, tuple(survivors), unbuilt)


def _summary(job: Job, told: Mutated) -> Result:
    """The figures that a policy may limit, and every survivor with its reason in the log."""
    kinds = Counter(one.kind for one in told.survivors)
    figures = {
        "mutation.killed": float(len(told.killed)),
        "mutation.survived": float(len(told.survived)),
        "mutation.equivalent": float(kinds["equivalent"]),
        "mutation.unbuilt": float(len(told.unbuilt)),
    }
    if told.counted:
        low, high = told.interval
        figures |= {
            "mutation.kill_rate": len(told.killed) / told.counted,
            "mutation.kill_rate_low": low,
            "mutation.kill_rate_high": high,
        }
    return replace(
        blank_result(job, Outcome.OK if told.counted else Outcome.UNSUPPORTED),
        task_metrics=figures,
        detail="" if told.counted else "no mutant of this model was built that is not equivalent to it",
        log="".join(f"survived {one.mutant}: {one.why}\n" for one in told.survivors),
    )
