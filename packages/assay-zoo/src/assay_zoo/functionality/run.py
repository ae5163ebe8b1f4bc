"""The jobs of functionality: one reference for all flows, then every flow on every data set, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.core.case import Case, Inputs
from assay.core.digest import sha256_bytes, value_digest
from assay.core.flow import Flow
from assay.core.job import DeriveToleranceJob, VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.result import Result
from assay.core.run import Run
from assay.pipeline.adapters import Services
from assay.pipeline.check import record_run
from assay.pipeline.provenance import PACKAGES, new_run_id, provenance, this_machine
from assay.pipeline.references.ensure_references import ensure_references
from assay.pipeline.references.tolerances import with_tolerances
from assay_zoo.policy import RunLimits


@dataclass(frozen=True)
class Asked:
    """One recipe of inputs: `case` is what flows verify, compared with `reference`; `why` it has none ("" where it has)."""

    case: Case
    reference: Path
    why: str = ""


@dataclass(frozen=True)
class Recipe:
    """Stored inputs, and what to compare flows with where the oracle has no answer (None: nothing)."""

    name: str
    inputs: Path
    expected: Path | None = None


def ask(recipes: Sequence[Recipe], model: Model, limits: Limits, services: Services) -> list[Asked]:
    """The oracle's answers to the inputs of each recipe, all asked at once."""
    locks = [sha256_bytes((recipe.inputs / "golden.lock").read_bytes()) for recipe in recipes]
    folders = [
        (services.folder / "oracle" / value_digest((model.digest, lock, "zoo-4"))[:32]).absolute() for lock in locks
    ]
    recording = [
        _tolerance_job(_case(recipe.name, model, recipe.inputs), folder, limits)
        for recipe, folder in zip(recipes, folders, strict=True)
    ]
    lacking = services.jobs.complete(services.jobs.all_of(ensure_references([job], services) for job in recording))
    failed = {result.case: result.detail for results in lacking for result in results}
    asked = []
    for recipe, lock, folder in zip(recipes, locks, folders, strict=True):
        if recipe.name in failed:
            asked.append(Asked(_case(recipe.name, model, recipe.expected), Path(), failed[recipe.name]))
        else:
            # The seed names the inputs: the tolerance is kept by it.
            asked.append(Asked(Case(recipe.name, model, Inputs(seed=int(lock[:12], 16))), folder))
    return asked


def _case(name: str, model: Model, golden: Path | None) -> Case:
    return Case(name, model, Inputs(golden=str(golden.absolute())) if golden else Inputs())


def _tolerance_job(case: Case, reference: Path, limits: Limits) -> DeriveToleranceJob:
    """That of float32, the arithmetic that the model was written in; its folder is not chosen yet."""
    return DeriveToleranceJob(case, tolerance_dir="", precision="float32", limits=limits, reference_dir=str(reference))


def derive_plain(every: Sequence[Asked], limits: Limits, services: Services) -> list[DeriveToleranceJob]:
    """The tolerances by which expected outputs, and flows of plain float32, are judged: the jobs that have derived them."""
    jobs = [_tolerance_job(question.case, question.reference, limits) for question in every if not question.why]
    return services.jobs.complete(with_tolerances(jobs, services))


def run_all(every: Sequence[Asked], flows: Sequence[Flow], limits: Limits, services: Services) -> list[Result]:
    """Each flow on each recipe. The run is kept in the history as any other."""
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    scratch = str(services.scratch(run_id))
    jobs = tuple(
        VerifyJob(
            question.case,
            flow,
            limits=limits,
            scratch=scratch,
            reference_dir="" if question.why else str(question.reference),
        )
        for flow in flows
        for question in every
    )
    run = Run(
        id=run_id,
        command="assay zoo check",
        jobs=jobs,
        **provenance(now, this_machine(services.gpus), (*PACKAGES, *sorted({flow.backend for flow in flows}))),
    )
    return list(services.jobs.complete(record_run(run, services)).results)


def limits_of(policy: RunLimits) -> Limits:
    """Of one job: no more than code of a submission may use."""
    return Limits(timeout_s=min(policy.seconds, Limits().timeout_s), memory_bytes=policy.memory_bytes)
