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
from assay.pipeline.originals import original_of
from assay.pipeline.own_data import check_prompts_of, put_in_place, staging_folder, with_prompts
from assay.pipeline.request import ModelRequest
from assay.pipeline.services import Services

_ORIGINAL = "|original"
"""Behind the name of a case while its original is looked at: no case has that name."""
_FINDINGS = 3
"""Of one refused model that are listed."""
_PARSING_BYTES, _PER_BYTE = 8_000_000_000, 8
"""What looking at a model takes at most: libraries, and its file a few times over."""


async def inspect_models(wanted: Sequence[ModelRequest], limits: Limits, services: Services) -> list[Case]:
    """Each file opened and validated behind the wall: models are untrusted. Raises UsageError with the worker's sentence."""
    names = _names(wanted)
    wanted = [with_prompts(one) for one in wanted]
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
    for name, one in zip(names, wanted, strict=True):
        check_prompts_of(one, models.get(f"{name}{_ORIGINAL}") or models[name])
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


def model_files(wanted: ModelRequest) -> list[Path]:
    """Its own file and that of its original."""
    original = wanted.original.path if wanted.original is not None else None
    return [wanted.path, *([original] if original is not None else [])]


def _inspections(name: str, one: ModelRequest, limits: Limits, history: Path) -> list[InspectJob]:
    """The model, and its original where there is one: then it is the original's golden that is looked at beside it. Given data
    are read by the model whose names they have."""
    staging = staging_folder(one.inputs, history)
    limits = _bounded(limits, one)
    if one.original is None:
        case = Case(name, Model(name, str(one.path), ""), one.inputs, one.contract)
        return [InspectJob(case, limits=limits, data_dir=staging)]
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
    return [InspectJob(case, limits=limits, data_dir=staging if case.inputs.data is not None else "") for case in cases]


def _bounded(limits: Limits, one: ModelRequest) -> Limits:
    """A small file may ask for any amount of memory when it is parsed: of ONNX files alone it is known how much is fair."""
    files = model_files(one)
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


def check_calibration(wanted: ModelRequest, case: Case) -> None:
    """Raises UsageError where calibration would leave no sample to judge."""
    flow = next((one.name for one in wanted.flows if any(map(plugins.is_calibrated, one.transforms))), "")
    original = case.original.golden if case.original is not None else ""
    stored = original or case.inputs.golden or case.inputs.given
    if not flow or not stored:
        return
    from assay.models.calibration_samples import samples_taken

    given = wanted.inputs.data.source if wanted.inputs.data is not None else stored
    try:
        samples_taken(read_lock(Path(stored)).samples, case.inputs.calibration, given)
    except UsageError as error:
        raise UsageError(f"flow {flow!r}: {error}") from None
