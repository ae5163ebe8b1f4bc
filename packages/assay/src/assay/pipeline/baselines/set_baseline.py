"""Approve an engine: build it, measure it, and keep it with the reason, so that the next one can be compared with it."""

from __future__ import annotations

import getpass
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.core.approval import ApprovalAction
from assay.core.baseline import Baseline, Recipe
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import CompareSpeedJob, MeasureJob, other_kind
from assay.core.outcome import Outcome
from assay.core.result import MeasureResult
from assay.core.result_parts import speeds_of
from assay.core.speed import BaselineEngine, SpeedRule
from assay.errors import UsageError
from assay.judge.words.note_text import note_text
from assay.models.artifacts import changed
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.approvals import record_approval
from assay.pipeline.baselines.baseline_history import current_identity, make_current
from assay.pipeline.baselines.find_baseline import ARTIFACT, FILE, baseline_folder, cell_name
from assay.pipeline.baselines.fingerprint import fingerprint
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.plan import reference_dir
from assay.pipeline.provenance import new_run_id, this_machine
from assay.pipeline.references.ensure_references import ensure_references, reject_wrong_inputs
from assay.pipeline.request import Request
from assay.pipeline.threads import with_threads

LAUNCHES = 6
"""Of the engine with itself: twelve fresh engines to be compared with when it cannot be run again."""


def set_baseline(request: Request, why: str, services: Services) -> list[Baseline]:
    """Build and measure every model on its flows and keep the engines. Raises UsageError where one cannot be had."""
    if not why.strip():
        raise UsageError("a baseline needs a reason: give --reason")
    if request.measuring is None:
        raise UsageError(
            "a baseline keeps what was measured of an engine, and nothing is measured here: leave `enabled = false` out of [measure]"
        )
    return services.jobs.complete(_set_baselines(request, why, services))


async def _set_baselines(request: Request, why: str, services: Services) -> list[Baseline]:
    approved = []
    cases = await inspect_models(request.models, request.limits, services)
    for request_of_model, case in zip(request.models, cases, strict=True):
        approved += [await _set_baseline(request, case, flow, why, services) for flow in request_of_model.flows]
    return approved


async def _set_baseline(request: Request, case: Case, flow: Flow, why: str, services: Services) -> Baseline:
    assert request.measuring is not None
    flow = with_threads(flow, request.measuring.threads)
    machine = this_machine(services.gpus)
    final = baseline_folder(services, case.name, flow.name, machine)
    final.parent.mkdir(parents=True, exist_ok=True)
    services.files.bring(cell_name(case.name, flow.name))
    with tempfile.TemporaryDirectory(dir=final.parent) as name:
        staging = Path(name) / "new"
        job = MeasureJob(
            case,
            flow,
            limits=request.limits,
            scratch=name,
            measuring=request.measuring,
            reference_dir="" if case.inputs.golden else str(reference_dir(case, services.folder)),
            artifact_dir=str(staging / ARTIFACT),
        )
        lacking = await ensure_references([job], services)
        reject_wrong_inputs(lacking, [job])
        (result,) = lacking or await services.jobs.together([job])
        if not isinstance(result, MeasureResult) or result.outcome is not Outcome.OK:
            text = f"{result.outcome.value} in {result.stage.value}: {result.detail}"
            raise UsageError(f"{case.name} on {flow.name} cannot be approved, {text}")
        samples = await _samples(job, result.facts.artifact_digest, services)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        baseline = Baseline(
            case.name,
            case.model,
            flow,
            machine,
            result,
            getpass.getuser(),
            why,
            now,
            samples=samples,
            fingerprint=fingerprint(machine, case, flow, request.measuring),
            id=new_run_id(datetime.now(UTC)),
            replaces=current_identity(final),
            recipe=Recipe(case.inputs, request.measuring, request.limits),
        )
        (staging / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(baseline), indent=1))
        record_approval(ApprovalAction.SET, baseline, why, services)
        make_current(staging, final)
        services.files.keep(cell_name(case.name, flow.name))
    return baseline


async def _samples(job: MeasureJob, digest: str, services: Services) -> tuple[float, ...]:
    """CPU seconds per call of fresh engines, from a comparison of the engine with itself; none where it cannot be compared."""
    itself = BaselineEngine("itself", job.flow, job.case.model, job.artifact_dir, digest)
    rule = SpeedRule(looks=(LAUNCHES,))
    question = other_kind(job, CompareSpeedJob, baseline=itself, rule=rule, batches=job.measuring.batches[:1])
    (result,) = await services.jobs.together([question])
    if trouble := changed(itself):
        raise UsageError(f"{job.case.name} on {job.flow.name} cannot be approved: {note_text(trouble)}")
    launches = [launch for speed in speeds_of(result) for launch in speed.launches]
    return tuple(seconds for launch in launches for seconds in (launch.own_s, launch.rival_s))
