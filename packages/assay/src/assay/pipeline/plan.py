"""From a request to the jobs of a run: every model looked at once, every cell named."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import msgspec

from assay.config.stated_inputs import check_stated
from assay.config.validate_goals import check_goals
from assay.config.validate_shapes import check_dims
from assay.core.case import Case, Inputs, Original
from assay.core.flow import Flow
from assay.core.job import (
    AnyJob,
    CompareSpeedJob,
    EngineJob,
    InspectJob,
    Job,
    Limits,
    MeasureJob,
    Measuring,
    PerNodeJob,
    RefusalCache,
    VerifyJob,
    other_kind,
)
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import InspectResult, Result
from assay.core.run import Run
from assay.errors import BadModel, UsageError, each
from assay.models.examination.sentences import refusal
from assay.models.random_inputs import check_can_be_generated
from assay.models.sources import check_source, source_name
from assay.pipeline.candidates import candidate_dir, prune_candidates
from assay.pipeline.find_baseline import find_baseline
from assay.pipeline.originals import change_job, oracle_digest, original_case, original_folder, original_of
from assay.pipeline.own_data import put_in_place, staging_folder
from assay.pipeline.provenance import git_commit, new_run_id, this_machine, versions
from assay.pipeline.request import ModelRequest, Request
from assay.pipeline.save_tensors import with_saving
from assay.pipeline.services import Services
from assay.pipeline.threads import with_threads_each
from assay.pipeline.validate_calibration import check_calibration
from assay.plugins import check_flow
from assay.task_metrics.registry import check_task

_ORIGINAL = "|original"
"""Behind the name of a case while its original is looked at: no case has that name."""
PACKAGES = ("assay", "numpy", "onnx", "onnxruntime", "openvino", "torch")


async def plan(request: Request, services: Services) -> Run:
    """Look at every model in a worker, then name the jobs. Raises UsageError for whatever cannot be used."""
    if not request.models:
        raise UsageError("no model to check: name an ONNX file, or list [[model]] entries in assay.toml")
    each([path for wanted in request.models for path in _files(wanted)], check_source)
    for wanted in request.models:
        for flow in wanted.flows:
            check_flow(flow)
        if wanted.contract.task_metric is not None:
            check_task(wanted.contract.task_metric, wanted.contract.task_metric_options)
    cases = await inspect_models(request.models, request.limits, services)
    for case in cases:
        check_dims(case)
        check_stated(case)
        _check_outputs(case)
        drawn = original_case(case) if case.original is not None else case
        if not drawn.inputs.golden and not drawn.inputs.given:
            check_can_be_generated(drawn.model, samples=drawn.inputs.samples, batch=drawn.inputs.batch)
    check_goals(request.policy.goals, cases)
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    if request.compare_speed:
        prune_candidates(services)
    planned = [
        _jobs(request, wanted, case, services, run_id) for wanted, case in zip(request.models, cases, strict=True)
    ]
    jobs = tuple(job for one in planned for job in one)
    twice = [key for key, count in Counter(job.key for job in jobs).items() if count > 1]
    if twice:
        raise UsageError(f"'{twice[0]}' is asked for twice: name each flow once for a model")
    if request.only:
        jobs = tuple(job for job in jobs if job.key == request.only) or _no_such_job(request.only, jobs)
    jobs = tuple(with_saving(jobs, request.save_inputs, request.save_outputs))
    return Run(
        id=run_id,
        started_at=now.isoformat(timespec="seconds"),
        command=request.command,
        jobs=jobs,
        policy=request.policy,
        machine=this_machine(services.gpus),
        versions=versions(PACKAGES),
        commit=git_commit(Path.cwd()),
        baseline=request.baseline,
        baselines=tuple(job.baseline for one in planned for job in one if isinstance(job, CompareSpeedJob)),
        narrowed=bool(request.only),
        alone=bool(request.only),
    )


def _check_outputs(case: Case) -> None:
    """A limit for an output that is not there would do nothing, in silence."""
    known = [one.name for one in case.model.outputs]
    for name in case.contract.tolerances:
        if name != "*" and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise UsageError(
                f"a tolerance is given for output {name!r}, which {case.name} does not have; perhaps you mean {near[0]!r}"
            )


def _no_such_job(only: str, jobs: Sequence[Job]) -> NoReturn:
    near = difflib.get_close_matches(only, [job.key for job in jobs], n=1, cutoff=0.0)
    raise UsageError(f"no job is called {only!r}; the nearest is {near[0]!r}" if near else "nothing is left to run")


_FINDINGS = 3
"""Of one refused model that are listed."""
_PARSING_BYTES, _PER_BYTE = 8_000_000_000, 8
"""What looking at a model takes at most: libraries, and its file a few times over."""


async def inspect_models(wanted: Sequence[ModelRequest], limits: Limits, services: Services) -> list[Case]:
    """Each file opened and validated behind the wall: models are untrusted. Raises UsageError with the worker's sentence."""
    names = _names(wanted)
    asked = [
        job for name, one in zip(names, wanted, strict=True) for job in _inspections(name, one, limits, services.folder)
    ]
    seen = {result.case: result async for result in services.jobs.results(asked)}
    models = dict(
        zip(
            (job.case.name for job in asked),
            each(asked, lambda job: model_of(seen[job.case.name], job.case.model.source)),
            strict=True,
        )
    )
    placed = {
        job.case.name.removesuffix(_ORIGINAL): put_in_place(job.case.inputs, job.data_dir, services.folder)
        for job in asked
        if job.case.inputs.data is not None
    }
    read = [replace(one, inputs=placed.get(name, one.inputs)) for name, one in zip(names, wanted, strict=True)]
    cases = [_case(name, one, models) for name, one in zip(names, read, strict=True)]
    for one, case in zip(wanted, cases, strict=True):
        check_calibration(one, case)
    return cases


def _files(wanted: ModelRequest) -> list[Path]:
    original = wanted.original.path if wanted.original is not None else None
    return [wanted.path, *([original] if original is not None else [])]


def _inspections(name: str, one: ModelRequest, limits: Limits, history: Path) -> list[InspectJob]:
    """The model, and its original where there is one: then it is the original's golden that is looked at beside it. Given data
    are read by the model whose names they have."""
    flow, staging = Flow("inspect", ""), staging_folder(one.inputs, history)
    limits = _bounded(limits, one)
    if one.original is None:
        case = Case(name, Model(name, str(one.path), ""), one.inputs, one.contract)
        return [InspectJob(case, flow, limits, data_dir=staging)]
    if one.original.path is None and one.inputs.data is not None:
        raise UsageError(
            f"{one.inputs.data.source} is no golden folder, and of another model nothing else is known: record one with "
            "`assay golden record`, or give that model with --reference"
        )
    unknown, plain = Original(Model("", "", "")), msgspec.structs.replace(one.inputs, golden="", data=None)
    if one.original.path is None:
        unknown = msgspec.structs.replace(unknown, golden=one.inputs.golden)
    new = Case(name, Model(name, str(one.path), ""), plain, one.contract, original=unknown)
    old = Case(
        f"{name}{_ORIGINAL}", Model(name, str(one.original.path), ""), one.inputs, one.contract, original=unknown
    )
    cases = [new] if one.original.path is None else [new, old]
    return [InspectJob(case, flow, limits, data_dir=staging if case.inputs.data is not None else "") for case in cases]


def _bounded(limits: Limits, one: ModelRequest) -> Limits:
    """A small file may ask for any amount of memory when it is parsed: of ONNX files alone it is known how much is fair."""
    files = _files(one)
    known = all(file.suffix == ".onnx" and file.is_file() for file in files)
    if limits.memory_bytes or not known or one.inputs.data is not None or one.inputs.golden:
        return limits
    size = sum(file.stat().st_size for file in files)
    return msgspec.structs.replace(limits, memory_bytes=_PARSING_BYTES + _PER_BYTE * size)


def _case(name: str, one: ModelRequest, models: Mapping[str, Model]) -> Case:
    case = Case(name, models[name], one.inputs, one.contract)
    if one.original is None:
        return case
    original = original_of(models[name], one.original, one.inputs, models.get(f"{name}{_ORIGINAL}"))
    return msgspec.structs.replace(case, inputs=msgspec.structs.replace(one.inputs, golden=""), original=original)


def model_of(result: Result, source: str) -> Model:
    """What looking at a file gave. Raises UsageError with its sentence."""
    if isinstance(result, InspectResult) and result.model is not None:
        return result.model
    if isinstance(result, InspectResult) and result.findings:
        raise BadModel(refusal(Path(source), result.findings, _FINDINGS))
    if result.outcome is Outcome.ERROR:
        raise UsageError(result.detail)
    what = {
        Outcome.TIMEOUT: "raise --timeout if it is that large",
        Outcome.OUT_OF_MEMORY: "raise --memory if it is that large",
    }.get(result.outcome, "is the file sound?")
    raise BadModel(f"{source}: looking at the model ended in {result.outcome.value} ({result.detail}); {what}")


def _names(wanted: Sequence[ModelRequest]) -> list[str]:
    names = [one.name or source_name(one.path) for one in wanted]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(
            f"two models are called '{twice[0]}': give one of them another name (name = ... in assay.toml)"
        )
    return names


def _jobs(request: Request, wanted: ModelRequest, case: Case, services: Services, run_id: str) -> list[AnyJob]:
    reference = "" if case.inputs.golden else str(reference_dir(case, services.folder))
    original = ""
    if case.original is not None:
        original = original_folder(case, reference_dir(original_case(case), services.folder))
    flows = [*map(check_flow, wanted.flows)]
    measuring = request.measuring or Measuring()
    measured = with_threads_each(flows, measuring.threads)
    plain = [
        EngineJob(
            case,
            flow,
            request.limits,
            str(services.scratch(run_id)),
            reference_dir=reference,
            original_dir=original,
            refusals=RefusalCache.USED,
        )
        for flow in flows
    ]
    jobs: list[AnyJob] = [other_kind(job, VerifyJob) for job in plain if request.verify]
    if not wanted.verified:
        jobs += [other_kind(job, PerNodeJob) for job in plain if request.per_node]
        jobs += [
            other_kind(
                job,
                MeasureJob,
                flow=measured[job.flow.name],
                measuring=measuring,
                artifact_dir=str(candidate_dir(services, run_id, case.name, job.flow.name))
                if request.compare_speed
                else "",
            )
            for job in plain
            if request.measuring is not None
        ]
    jobs = _asking_again(jobs) if request.no_cache else jobs
    comparisons = [
        other_kind(
            job,
            CompareSpeedJob,
            flow=measured[job.flow.name],
            batches=measuring.batches,
            threads=measuring.threads,
            baseline=find_baseline(case, measured[job.flow.name], measuring, services),
            rule=request.policy.speed,
            refusals=RefusalCache.UNUSED,
        )
        for job in plain
        if request.compare_speed and not wanted.verified
    ]
    changes = (
        [change_job(case, request.limits, str(services.scratch(run_id)), reference, original)]
        if original and request.verify
        else []
    )
    return [*changes, *jobs, *comparisons]


def _asking_again(jobs: Sequence[AnyJob]) -> list[AnyJob]:
    """The first job asks again, and those after it believe what it was told."""
    return [
        msgspec.structs.replace(job, refusals=RefusalCache.RENEWED) if job.kind is jobs[0].kind else job for job in jobs
    ]


def reference_dir(case: Case, history: Path) -> Path:
    """Where the reference outputs of this model on these inputs are kept: once for all flows and runs."""
    given = case.inputs
    # Inputs that were given lie in a folder that is called by their contents.
    name = Path(given.given).name
    inputs = Inputs(
        seed=given.seed,
        samples=given.samples,
        batch=given.batch,
        dims=given.dims,
        fill=given.fill,
        given=name,
        ranges=given.ranges,
        fewer=given.fewer,
    )
    return (history / "oracle" / oracle_digest(case, inputs)).absolute()
