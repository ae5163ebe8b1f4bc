"""From a request to the jobs of a run: every model looked at once, every cell named."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NoReturn

import msgspec

from assay.config.option_values import check_stated
from assay.config.validate_cases import check_dims, check_goals
from assay.core.case import Case, Inputs
from assay.core.job import (
    AnyJob,
    ChangeJob,
    CompareSpeedJob,
    MeasureJob,
    PerNodeJob,
    VerifyJob,
    other_kind,
)
from assay.core.job_base import EngineJob, Job, RefusalCache
from assay.core.limits import Measuring
from assay.core.run import Run
from assay.errors import UsageError, each
from assay.models.random_inputs import check_can_be_generated
from assay.models.sources import check_source
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.find_baseline import find_baseline
from assay.pipeline.inspect_models import inspect_models, model_files
from assay.pipeline.kept_files.run_folders import CANDIDATES, TRACES, candidate_dir, prune, trace_dir
from assay.pipeline.kept_files.save_tensors import with_saving
from assay.pipeline.prompt_flows import check_prompt_flows, check_prompts
from assay.pipeline.provenance import new_run_id, provenance, this_machine
from assay.pipeline.references.originals import oracle_digest, original_case, original_folder
from assay.pipeline.references.own_data import check_whole
from assay.pipeline.request import ModelRequest, Request
from assay.pipeline.threads import with_threads_each
from assay.plugins import check_flow
from assay.task_metrics.registry import check_task


async def plan(request: Request, services: Services) -> Run:
    """Look at every model in a worker, then name the jobs. Raises UsageError for whatever cannot be used."""
    _check_wanted(request)
    cases = await inspect_models(request.models, request.limits, services)
    for request_of_model, case in zip(request.models, cases, strict=True):
        check_prompts(request_of_model.flows, case)
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
        prune(services, CANDIDATES)
    if request.trace:
        prune(services, TRACES)
    planned = [
        _jobs(request, request_of_model, case, services, run_id)
        for request_of_model, case in zip(request.models, cases, strict=True)
    ]
    jobs = tuple(job for part in planned for job in part)
    twice = [key for key, count in Counter(job.key for job in jobs).items() if count > 1]
    if twice:
        raise UsageError(f"'{twice[0]}' is asked for twice: name each flow once for a model")
    if request.only:
        jobs = tuple(job for job in jobs if job.key == request.only) or _no_such_job(request.only, jobs)
    jobs = tuple(with_saving(jobs, request.save_inputs, request.save_outputs))
    return Run(
        id=run_id,
        command=request.command,
        jobs=jobs,
        policy=request.policy,
        **provenance(now, this_machine(services.gpus)),
        baseline=request.baseline,
        baselines=tuple(job.baseline for part in planned for job in part if isinstance(job, CompareSpeedJob)),
        narrowed=bool(request.only),
        alone=bool(request.only),
        sources=request.sources,
    )


def _check_wanted(request: Request) -> None:
    """What can be refused before any model is looked at."""
    if not request.models:
        raise UsageError("no model to check: name an ONNX file, or list [[model]] entries in assay.toml")
    each([path for request_of_model in request.models for path in model_files(request_of_model)], check_source)
    saved: dict[str, object] = {"--save-inputs": request.save_inputs, "--save-outputs": request.save_outputs}
    for request_of_model in request.models:
        other = (
            "--golden-of-another-model"
            if request_of_model.original and request_of_model.original.path is None
            else "--reference"
        )
        check_whole(request_of_model.inputs, saved | {other: request_of_model.original})
        for flow in request_of_model.flows:
            check_flow(flow)
        check_prompt_flows(request_of_model.flows, request_of_model.inputs, saved)
        if request_of_model.contract.task_metric is not None:
            check_task(request_of_model.contract.task_metric, request_of_model.contract.task_metric_options)


def _check_outputs(case: Case) -> None:
    """A limit for an output that is not there would do nothing, in silence."""
    known = [output.name for output in case.model.outputs]
    for name in case.contract.tolerances:
        if name != "*" and name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
            raise UsageError(
                f"a tolerance is given for output {name!r}, which {case.name} does not have; perhaps you mean {near[0]!r}"
            )


def _no_such_job(only: str, jobs: Sequence[Job]) -> NoReturn:
    near = difflib.get_close_matches(only, [job.key for job in jobs], n=1, cutoff=0.0)
    raise UsageError(f"no job is called {only!r}; the nearest is {near[0]!r}" if near else "nothing is left to run")


def _jobs(
    request: Request, request_of_model: ModelRequest, case: Case, services: Services, run_id: str
) -> list[AnyJob]:
    scratch = str(services.scratch(run_id))
    reference = "" if case.inputs.golden else str(reference_dir(case, services.folder))
    original = ""
    if case.original is not None:
        original = original_folder(case, reference_dir(original_case(case), services.folder))
    plain = [
        EngineJob(
            case,
            flow,
            limits=request.limits,
            scratch=scratch,
            reference_dir=reference,
            original_dir=original,
            refusals=RefusalCache.USED,
        )
        for flow in map(check_flow, request_of_model.flows)
    ]
    jobs: list[AnyJob] = [other_kind(job, VerifyJob) for job in plain if request.verify]
    comparisons: list[CompareSpeedJob] = []
    if not request_of_model.verified:
        jobs += [other_kind(job, PerNodeJob) for job in plain if request.per_node]
        jobs += _measured(request, plain, services, run_id)
        comparisons = _compared(request, plain, services)
    jobs = _asking_again(jobs) if request.no_cache else jobs
    change = ChangeJob(case, limits=request.limits, scratch=scratch, reference_dir=reference, original_dir=original)
    changes = [change] if original and request.verify else []
    return [*changes, *jobs, *comparisons]


def _measured(request: Request, plain: Sequence[EngineJob], services: Services, run_id: str) -> list[MeasureJob]:
    """Where engines are compared with a baseline, each leaves its artifact: it may be approved."""
    if request.measuring is None:
        return []
    flows = with_threads_each([job.flow for job in plain], request.measuring.threads)
    kept = request.compare_speed
    return [
        other_kind(
            job,
            MeasureJob,
            flow=flows[job.flow.name],
            measuring=request.measuring,
            artifact_dir=str(candidate_dir(services, run_id, job.case.name, job.flow.name)) if kept else "",
            trace_dir=str(trace_dir(services, run_id, job.case.name, job.flow.name)) if request.trace else "",
        )
        for job in plain
    ]


def _compared(request: Request, plain: Sequence[EngineJob], services: Services) -> list[CompareSpeedJob]:
    if not request.compare_speed:
        return []
    measuring = request.measuring or Measuring()
    flows = with_threads_each([job.flow for job in plain], measuring.threads)
    return [
        other_kind(
            job,
            CompareSpeedJob,
            flow=flows[job.flow.name],
            batches=measuring.batches,
            threads=measuring.threads,
            baseline=find_baseline(job.case, flows[job.flow.name], measuring, services),
            rule=request.policy.speed,
            refusals=RefusalCache.UNUSED,
        )
        for job in plain
    ]


def _asking_again(jobs: Sequence[AnyJob]) -> list[AnyJob]:
    """The first job asks again, and those after it believe what it was told."""
    return [
        msgspec.structs.replace(job, refusals=RefusalCache.RENEWED) if job.kind is jobs[0].kind else job for job in jobs
    ]


def reference_dir(case: Case, history: Path) -> Path:
    """Where the reference outputs of this model on these inputs are kept: once for all flows and runs."""
    case_inputs = case.inputs
    # Inputs that were given lie in a folder that is called by their contents.
    name = Path(case_inputs.given).name
    inputs = Inputs(
        seed=case_inputs.seed,
        samples=case_inputs.samples,
        batch=case_inputs.batch,
        dims=case_inputs.dims,
        fill=case_inputs.fill,
        given=name,
        ranges=case_inputs.ranges,
        fewer=case_inputs.fewer,
    )
    return (history / "oracle" / oracle_digest(case, inputs)).absolute()
