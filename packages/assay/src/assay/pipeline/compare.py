"""Which of two engines is faster: one comparison, recorded and judged like every job."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import CompareSpeedJob, MeasureJob
from assay.core.limits import Limits, Measuring
from assay.core.model import Model
from assay.core.policy import Policy
from assay.core.run import ModelSource, Run
from assay.core.speed import BaselineEngine
from assay.errors import UsageError
from assay.models.sources import check_source, source_name
from assay.pipeline.adapters import Services
from assay.pipeline.check import record_run
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.open_run import Checked
from assay.pipeline.plan import reference_dir
from assay.pipeline.provenance import new_run_id, provenance, this_machine
from assay.pipeline.request import ModelRequest
from assay.pipeline.threads import with_threads

Shape = tuple[int | str, ...]


@dataclass(frozen=True, kw_only=True)
class CompareRequest:
    """`old` and `new` are files, perhaps the same; each goes through its flow. `new` is the one that is judged. Several
    `batches` are a sweep: a comparison at each of them. `measuring`: both are measured alone besides, so that memory, sizes and what
    their libraries warn of are compared, too."""

    old: Path
    new: Path
    old_flow: Flow
    new_flow: Flow
    inputs: Inputs = field(default_factory=Inputs)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    batches: tuple[int, ...] = ()
    threads: int = 1
    measuring: Measuring | None = None
    sources: tuple[ModelSource, ...] = ()
    command: str = "assay compare"


def compare(request: CompareRequest, services: Services) -> Checked:
    """Raises UsageError before anything ran, HarnessError when the machine fails."""
    return services.jobs.complete(_compare(request, services))


async def _compare(request: CompareRequest, services: Services) -> Checked:
    return await record_run(await plan_comparison(request, services), services)


async def plan_comparison(request: CompareRequest, services: Services) -> Run:
    """A run of one job. Raises UsageError for a model that cannot be used."""
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    names = _names(request)
    question = [
        ModelRequest(path=request.new, flows=(request.new_flow,), name=names[0], inputs=request.inputs),
        # It is fed what the new one is fed: a golden is bound to one model, which may not be this one.
        ModelRequest(path=request.old, flows=(request.old_flow,), name=names[1]),
    ]
    for model_request in question:
        check_source(model_request.path)
    (new,), (old,) = [await inspect_models([model_request], request.limits, services) for model_request in question]
    _demand_same_inputs(old.model, new.model)
    _demand_free_batch((old.model, new.model), request.batches)
    own_flow, old_flow = (with_threads(flow, request.threads) for flow in (request.new_flow, request.old_flow))
    job = CompareSpeedJob(
        new,
        own_flow,
        limits=request.limits,
        scratch=str(services.scratch(run_id)),
        batches=request.batches,
        threads=request.threads,
        reference_dir="" if new.inputs.golden else str(reference_dir(new, services.folder)),
        baseline=BaselineEngine(old_flow.name if request.old == request.new else names[1], old_flow, old.model),
        rule=request.policy.speed,
    )
    alone = _measured(
        request, job, msgspec.structs.replace(old, inputs=_without_golden(request.inputs)), old_flow, services
    )
    return Run(
        id=run_id,
        command=request.command,
        jobs=(job, *alone),
        compared={alone[0].key: alone[1].key} if alone else {},
        policy=request.policy,
        **provenance(now, this_machine(services.gpus)),
        sources=request.sources,
    )


def _measured(
    request: CompareRequest, job: CompareSpeedJob, old: Case, old_flow: Flow, services: Services
) -> list[MeasureJob]:
    """The new engine alone and the old one, each with inputs for its own model; none where nothing is to be measured."""
    if request.measuring is None:
        return []
    if (old.name, old_flow.name) == (job.case.name, job.flow.name):
        old = msgspec.structs.replace(old, name=f"{old.name} (old)")
    sides = [
        (job.case, job.flow, job.reference_dir),
        (old, old_flow, str(reference_dir(old, services.folder))),
    ]
    return [
        MeasureJob(
            case, flow, limits=request.limits, scratch=job.scratch, measuring=request.measuring, reference_dir=folder
        )
        for case, flow, folder in sides
    ]


def _without_golden(inputs: Inputs) -> Inputs:
    """A golden is bound to one model."""
    return msgspec.structs.replace(inputs, golden="")


def _names(request: CompareRequest) -> Sequence[str]:
    """Of the new and the old model: their file names, or what the user wrote where those are equal."""
    new, old = source_name(request.new), source_name(request.old)
    if new != old or request.new == request.old:
        return new, old
    named = {source.path: source.named for source in request.sources}
    return [named.get(str(path), str(path)) for path in (request.new, request.old)]


def _demand_same_inputs(old: Model, new: Model) -> None:
    """Both are fed the same tensors. Raises UsageError where one of them could not take what the other takes."""
    theirs = {spec.name: spec for spec in old.inputs}
    ours = {spec.name: spec for spec in new.inputs}
    lone = sorted(theirs.keys() ^ ours.keys())
    if lone:
        raise UsageError(f"not comparable: only one of {old.name} and {new.name} has an input {lone[0]!r}")
    for name, our in ours.items():
        other = theirs[name]
        if our.dtype != other.dtype:
            raise UsageError(
                f"not comparable: input {name!r} is {other.dtype} in {old.name} and {our.dtype} in {new.name}"
            )
        if not _meet(our.shape, other.shape):
            raise UsageError(
                f"not comparable: input {name!r} is {_shown(other.shape)} in {old.name} and {_shown(our.shape)} in {new.name}"
            )


def _meet(shape: Shape, other: Shape) -> bool:
    """Whether some shape fits both: numbers must be equal, symbols take any, "..." is any rank."""
    if ("...",) in (shape, other):
        return True
    sizes = zip(shape, other, strict=False)
    return len(shape) == len(other) and all(a == b or isinstance(a, str) or isinstance(b, str) for a, b in sizes)


def _demand_free_batch(models: Sequence[Model], batches: Sequence[int]) -> None:
    """Raises UsageError for a batch that a fixed first dimension cannot take."""
    for model in models:
        for spec in model.inputs:
            first = spec.shape[0] if spec.shape else ""
            odd = [batch for batch in batches if isinstance(first, int) and batch != first]
            if odd:
                raise UsageError(
                    f"batch {odd[0]} cannot be fed: input {spec.name!r} of {model.name} is fixed at {_shown(spec.shape)}"
                )


def _shown(shape: Shape) -> str:
    return f"[{', '.join(map(str, shape))}]"
