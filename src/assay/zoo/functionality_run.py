"""The jobs of functionality: one reference for all flows, then every flow on every data set, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.case import Case, Contract, Inputs
from assay.core.digest import sha256_bytes, value_digest
from assay.core.flow import Flow
from assay.core.job import Job, Limits, Task
from assay.core.model import Model
from assay.core.result import Result
from assay.core.run import Run
from assay.pipeline.check import carry_out
from assay.pipeline.house import House
from assay.pipeline.plan import PACKAGES
from assay.pipeline.profiles import with_profiles
from assay.pipeline.provenance import git_commit, new_run_id, this_machine, versions
from assay.pipeline.reference import record_references
from assay.zoo.policy import RunLimits

PLAIN = Flow("expected outputs", "", precision="float32")
"""What the expected outputs are judged as: the arithmetic that the model was written in."""


@dataclass(frozen=True)
class Asked:
    """One recipe of inputs: `case` is what flows verify, held against `reference`; `why` it has none ("" where it has)."""

    case: Case
    reference: Path
    why: str = ""


def ask(name: str, model: Model, inputs: Path, expected: Path | None, limits: Limits, house: House) -> Asked:
    """The oracle's answers to the stored inputs. Where the oracle has none, the flows are held against `expected`."""
    told = sha256_bytes((inputs / "golden.lock").read_bytes())
    folder = house.folder / "oracle" / value_digest((model.digest, told, "zoo"))[:32]
    recording = Job(
        Case(name, model, Inputs(golden=str(inputs.absolute()))),
        PLAIN,
        Task.VERIFY,
        limits,
        reference=str(folder.absolute()),
    )
    failed = record_references([recording], house)
    # The seed names the inputs: the tolerance is kept by it.
    case = Case(name, model, Inputs(seed=int(told[:12], 16)), Contract())
    if not failed:
        return Asked(case, folder.absolute())
    why = failed[0].detail.partition("; record goldens")[0]
    golden = Inputs(golden=str(expected.absolute())) if expected else Inputs()
    return Asked(msgspec.structs.replace(case, inputs=golden), Path(), why)


def judged_plainly(asked: Asked, limits: Limits, house: House) -> Job:
    """A job that nobody runs: with the profile by which the expected outputs are judged."""
    (job,) = with_profiles([Job(asked.case, PLAIN, Task.VERIFY, limits, reference=str(asked.reference))], house)
    return job


def run_all(every: Sequence[Asked], flows: Sequence[Flow], limits: Limits, house: House) -> list[Result]:
    """Each flow on each recipe. The run is kept in the history as any other."""
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    scratch = str(house.scratch(run_id))
    jobs = tuple(
        Job(one.case, flow, Task.VERIFY, limits, scratch=scratch, reference="" if one.why else str(one.reference))
        for flow in flows
        for one in every
    )
    run = Run(
        id=run_id,
        started_at=now.isoformat(timespec="seconds"),
        command="assay zoo check",
        jobs=jobs,
        machine=this_machine(house.gpus),
        versions=versions((*PACKAGES, *sorted({flow.backend for flow in flows}))),
        commit=git_commit(Path.cwd()),
    )
    house.store.open_run(run)
    return list(carry_out(run, [], house).results)


def limits_of(policy: RunLimits) -> Limits:
    """Of one job: no more than code of a submission may use."""
    return Limits(timeout_s=min(policy.seconds, Limits().timeout_s), memory_bytes=policy.memory_bytes)
