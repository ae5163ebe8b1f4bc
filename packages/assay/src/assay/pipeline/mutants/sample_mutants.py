"""Which mutants a case has on a flow, which of them are run, and as which jobs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.job import ListMutantsJob, PerNodeJob, VerifyJob, other_kind
from assay.core.outcome import Outcome
from assay.pipeline.adapters import Services

GateJob = VerifyJob | PerNodeJob
"""How a gate judges a mutant."""


@dataclass(frozen=True)
class Injected:
    """One mutant of one case: `mutant` is `OPERATOR@NODE`, `node_type` the model's operator at that node."""

    case: str
    mutant: str
    node_type: str

    @property
    def operator(self) -> str:
        """The mutation operator."""
        return self.mutant.partition("@")[0].partition("=")[0]

    def __str__(self) -> str:
        return f"{self.mutant} in {self.case}"


async def list_mutants(
    sound: Sequence[GateJob], sites: int, seed: int, workspace: Path, services: Services
) -> tuple[dict[str, list[Injected]], dict[str, str]]:
    """By the key of the sound job its mutants, at most `sites` of each operator; and why a model has none.

    Flows with the same transforms deploy the same model: it is read once for all of them.
    """
    jobs: dict[tuple[str, tuple[str, ...]], ListMutantsJob] = {}
    for job in sound:
        target = str(workspace / f"mutants-{len(jobs)}.json")
        once = other_kind(job, ListMutantsJob, output_path=target, sites=sites, seed=seed)
        jobs.setdefault(_deployed(job), once)
    results = {result.job_key: result async for result in services.jobs.results(list(jobs.values()))}
    by_case: dict[str, list[Injected]] = {}
    failed: dict[str, str] = {}
    for job in sound:
        once = jobs[_deployed(job)]
        result = results[once.key]
        if result.outcome is Outcome.OK:
            listed = msgspec.json.decode(Path(once.output_path).read_bytes(), type=list[tuple[str, str]])
            by_case[job.key] = [Injected(job.case.name, mutant, node_type) for mutant, node_type in listed]
        else:
            failed[job.key] = f"no mutant can be made of it: {result.detail}"
    return by_case, failed


def _deployed(job: GateJob) -> tuple[str, tuple[str, ...]]:
    return job.case.name, job.flow.transforms


def sample_mutants(listed: Iterable[Injected], most: int, seed: int) -> list[Injected]:
    """At most `most` (0: all), spread over the operators; which operators get one more, and of which cases, the seed says."""
    known = list(listed)
    if not most or len(known) <= most:
        return known
    numbers = random.Random(seed)
    by_operator: dict[str, list[Injected]] = {}
    for injected in known:
        by_operator.setdefault(injected.operator, []).append(injected)
    operators = sorted(by_operator)
    numbers.shuffle(operators)
    if len({injected.case for injected in known}) > 1:
        for mutants in by_operator.values():
            numbers.shuffle(mutants)
    deep = max(map(len, by_operator.values()))
    rounds = [
        by_operator[operator][turn]
        for turn in range(deep)
        for operator in operators
        if turn < len(by_operator[operator])
    ]
    chosen = set(rounds[:most])
    return [injected for injected in known if injected in chosen]


def mutant_jobs(drawn: Sequence[Injected], sound: Mapping[str, GateJob]) -> dict[Injected, GateJob]:
    """A job for each, its flow with one more transform. `sound` is the job without any, by case."""
    return {
        injected: replace(sound[injected.case], flow=_mutated(sound[injected.case].flow, injected.mutant))
        for injected in drawn
    }


def _mutated(flow: Flow, mutant: str) -> Flow:
    # A bar would end the flow's part of a job key.
    shown = f"{flow.name}+{mutant}".replace("|", "¦")
    return replace(flow, name=shown, transforms=(*flow.transforms, f"mutant:{mutant}"))
