"""Every model of a request looked at in a worker: models are untrusted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.case import Case, Original
from assay.core.job import InspectJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.model_finding_text import refusal
from assay.core.outcome import Outcome
from assay.core.result import InspectResult, Result
from assay.errors import BadModel, UsageError, each
from assay.models.goldens import read_lock
from assay.models.sources import source_name
from assay.pipeline.adapters import Services
from assay.pipeline.references.originals import original_of
from assay.pipeline.references.own_data import check_prompts_of, put_in_place, staging_folder, with_prompts
from assay.pipeline.request import ModelRequest

_ORIGINAL = "|original"
"""Behind the name of a case while its original is looked at: no case has that name."""
_FINDINGS = 3
"""Of one refused model that are listed."""
_PARSING_BYTES, _PER_BYTE = 8_000_000_000, 8
"""What looking at a model takes at most: libraries, and its file a few times over."""


async def inspect_models(request_of_model: Sequence[ModelRequest], limits: Limits, services: Services) -> list[Case]:
    """Each file opened and validated behind the wall: models are untrusted. Raises UsageError with the worker's sentence."""
    names = _names(request_of_model)
    request_of_model = [with_prompts(model_request) for model_request in request_of_model]
    jobs = [
        job
        for name, model_request in zip(names, request_of_model, strict=True)
        for job in _inspections(name, model_request, limits, services.folder)
    ]
    inspected = {result.case: result async for result in services.jobs.results(jobs)}
    models = dict(
        zip(
            (job.case.name for job in jobs),
            each(jobs, lambda job: model_of(inspected[job.case.name], job.case.model.source)),
            strict=True,
        )
    )
    for name, model_request in zip(names, request_of_model, strict=True):
        check_prompts_of(model_request, models.get(f"{name}{_ORIGINAL}") or models[name])
    placed = {
        job.case.name.removesuffix(_ORIGINAL): put_in_place(job.case.inputs, job.data_dir, services.folder)
        for job in jobs
        if job.case.inputs.data is not None
    }
    read = [
        replace(model_request, inputs=placed.get(name, model_request.inputs))
        for name, model_request in zip(names, request_of_model, strict=True)
    ]
    cases = [_case(name, model_request, models) for name, model_request in zip(names, read, strict=True)]
    for model_request, case in zip(request_of_model, cases, strict=True):
        check_calibration(model_request, case)
    return cases


def model_files(request_of_model: ModelRequest) -> list[Path]:
    """Its own file and that of its original."""
    original = request_of_model.original.path if request_of_model.original is not None else None
    return [request_of_model.path, *([original] if original is not None else [])]


def _inspections(name: str, model_request: ModelRequest, limits: Limits, history: Path) -> list[InspectJob]:
    """The model, and its original where there is one: then it is the original's golden that is looked at beside it. Given data
    are read by the model whose names they have."""
    staging = staging_folder(model_request.inputs, history)
    limits = _bounded(limits, model_request)
    if model_request.original is None:
        case = Case(name, Model(name, str(model_request.path), ""), model_request.inputs, model_request.contract)
        return [InspectJob(case, limits=limits, data_dir=staging)]
    if model_request.original.path is None and model_request.inputs.data is not None:
        raise UsageError(
            f"{model_request.inputs.data.source} is no golden folder, and of another model nothing else is known: record one with "
            "`assay golden record`, or give that model with --reference"
        )
    unknown, plain = Original(Model("", "", "")), msgspec.structs.replace(model_request.inputs, golden="", data=None)
    if model_request.original.path is None:
        unknown = msgspec.structs.replace(unknown, golden=model_request.inputs.golden)
    new = Case(name, Model(name, str(model_request.path), ""), plain, model_request.contract, original=unknown)
    old = Case(
        f"{name}{_ORIGINAL}",
        Model(name, str(model_request.original.path), ""),
        model_request.inputs,
        model_request.contract,
        original=unknown,
    )
    cases = [new] if model_request.original.path is None else [new, old]
    return [InspectJob(case, limits=limits, data_dir=staging if case.inputs.data is not None else "") for case in cases]


def _bounded(limits: Limits, model_request: ModelRequest) -> Limits:
    """A small file may ask for any amount of memory when it is parsed: of ONNX files alone it is known how much is fair."""
    files = model_files(model_request)
    known = all(file.suffix == ".onnx" and file.is_file() for file in files)
    if limits.memory_bytes or not known or model_request.inputs.data is not None or model_request.inputs.golden:
        return limits
    size = sum(file.stat().st_size for file in files)
    return msgspec.structs.replace(limits, memory_bytes=_PARSING_BYTES + _PER_BYTE * size)


def _case(name: str, model_request: ModelRequest, models: Mapping[str, Model]) -> Case:
    case = Case(name, models[name], model_request.inputs, model_request.contract)
    if model_request.original is None:
        return case
    original = original_of(models[name], model_request.original, model_request.inputs, models.get(f"{name}{_ORIGINAL}"))
    return msgspec.structs.replace(
        case, inputs=msgspec.structs.replace(model_request.inputs, golden=""), original=original
    )


def model_of(result: Result, source: str) -> Model:
    """What looking at a file gave. Raises UsageError with its sentence."""
    if isinstance(result, InspectResult) and result.model is not None:
        return result.model
    if isinstance(result, InspectResult) and result.findings:
        raise BadModel(refusal(Path(source), result.findings, _FINDINGS))
    if result.outcome is Outcome.ERROR:
        raise UsageError(result.detail)
    if result.outcome is Outcome.UNAVAILABLE:
        raise UsageError(f"{source} cannot be looked at: {result.detail}")
    what = {
        Outcome.TIMEOUT: "raise --timeout if it is that large",
        Outcome.OUT_OF_MEMORY: "raise --memory if it is that large",
    }.get(result.outcome, "is the file sound?")
    raise BadModel(f"{source}: looking at the model ended in {result.outcome.value} ({result.detail}); {what}")


def _names(request_of_model: Sequence[ModelRequest]) -> list[str]:
    names = [model_request.name or source_name(model_request.path) for model_request in request_of_model]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(
            f"two models are called '{twice[0]}': give one of them another name (name = ... in assay.toml)"
        )
    return names


def check_calibration(request_of_model: ModelRequest, case: Case) -> None:
    """Raises UsageError where calibration would leave no sample to judge."""
    flow = next(
        (
            wanted_flow.name
            for wanted_flow in request_of_model.flows
            if any(map(plugins.is_calibrated, wanted_flow.transforms))
        ),
        "",
    )
    original = case.original.golden if case.original is not None else ""
    stored = original or case.inputs.golden or case.inputs.given
    if not flow or not stored:
        return
    from assay.models.calibration_samples import samples_taken

    given = request_of_model.inputs.data.source if request_of_model.inputs.data is not None else stored
    try:
        samples_taken(read_lock(Path(stored)).samples, case.inputs.calibration, given)
    except UsageError as error:
        raise UsageError(f"flow {flow!r}: {error}") from None
