"""Goldens by command: record new ones, see what an update would change, update with a reason."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import msgspec

from assay.config.option_values import check_stated
from assay.config.validate_cases import check_dims
from assay.core.case import Case, Inputs
from assay.core.data import Data
from assay.core.flow import Flow
from assay.core.golden import SKETCH, WHOLE, GoldenLock
from assay.core.job import ReferenceJob, VerifyJob
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.errors import BadGolden, UsageError
from assay.judge.words.note_text import note_text
from assay.models.goldens import diff_goldens, read_golden, read_lock, verify_golden
from assay.models.own_data.prompts.short_goldens import diff_short, shorten
from assay.models.tolerance_file import read_tolerance
from assay.numerics.tolerance.derived_tolerance import Samples
from assay.pipeline.adapters import Services
from assay.pipeline.goldens.cross_check import cross_check
from assay.pipeline.inspect_models import inspect_models
from assay.pipeline.prompt_flows import check_prompt_flows
from assay.pipeline.references.tolerances import with_tolerances
from assay.pipeline.request import ModelRequest
from assay.plugins import find_flow

LOCK = "golden.lock"
_JUDGED = "onnxruntime"
"""A flow in float32: what it may be off is kept beside sketches."""


def record(
    model: Path,
    folder: Path,
    inputs: Inputs,
    flow: Flow,
    why: str,
    services: Services,
    *,
    limits: Limits,
    form: str = WHOLE,
) -> tuple[GoldenLock, str]:
    """A new golden in `folder`, and a note on who else gives these answers. Raises UsageError where one lies there already, the flow
    cannot produce it, other engines dispute what an oracle says, or it cannot be kept in this form."""
    return services.jobs.complete(_record(model, folder, inputs, flow, why, services, limits, form))


async def _record(
    model: Path, folder: Path, inputs: Inputs, flow: Flow, why: str, services: Services, limits: Limits, form: str
) -> tuple[GoldenLock, str]:
    if (folder / LOCK).exists():
        raise BadGolden(f"{folder} holds a golden already; change it with assay golden update, or give another folder")
    check_prompt_flows((flow,), inputs, {"a golden": True})
    case = await _case(model, (flow,), limits, services, inputs)
    check_dims(case)
    check_stated(case)
    with tempfile.TemporaryDirectory(dir=services.folder) as name:
        staging = Path(name) / "golden"
        await _produce(case, staging, case.inputs, flow, why, services, limits)
        note = await cross_check(case, staging, flow, limits, services)
        await _shortened(case, staging, form, limits, services)
        folder.mkdir(parents=True, exist_ok=True)
        return publish(staging, folder), note


async def _shortened(case: Case, staging: Path, form: str, limits: Limits, services: Services) -> None:
    """Kept in this form, with the noise of a correct flow beside sketches, where that can be derived."""
    if form == WHOLE:
        return
    deviation: Samples = []
    if form == SKETCH:
        judged = msgspec.structs.replace(case, inputs=Inputs(golden=str(staging.absolute()), seed=case.inputs.seed))
        (job,) = await with_tolerances([VerifyJob(judged, find_flow(_JUDGED), limits=limits)], services)
        profile = read_tolerance(Path(job.tolerance_dir)) if job.tolerance_dir else None
        deviation = profile.deviation if profile is not None else []
    try:
        shorten(staging, form, deviation)
    except BadGolden as error:
        raise UsageError(f"a golden of {case.name} cannot be kept as {form}: {error}") from None


def keep(model: Path, folder: Path, inputs: Inputs, why: str, services: Services, *, limits: Limits) -> GoldenLock:
    """A new golden of the outputs that the data bring themselves. Raises UsageError where they bring none."""
    if (folder / LOCK).exists():
        raise BadGolden(f"{folder} holds a golden already; change it with assay golden update, or give another folder")
    read = services.jobs.complete(_case(model, (), limits, services, inputs)).inputs
    if not read.golden:
        raise UsageError("the data bring no outputs to keep; leave --keep-outputs out, and the reference answers them")
    shutil.copytree(read.golden, folder, dirs_exist_ok=True)
    give_reason(folder, why)
    return read_lock(folder)


def verify(model: Path | None, folder: Path, services: Services, *, limits: Limits) -> list[str]:
    """Everything that is wrong with a golden, and with it for this model; empty when nothing is."""
    case = services.jobs.complete(_case(model, (), limits, services)) if model is not None else None
    return [note_text(note) for note in verify_golden(folder, case.model if case else None)]


def propose(
    model: Path, folder: Path, flow: Flow, why: str, services: Services, *, limits: Limits, staging: Path
) -> list[str]:
    """Record the same inputs again into `staging`, and say line by line what differs from `folder`."""
    return services.jobs.complete(_propose(model, folder, flow, why, services, limits, staging))


async def _propose(
    model: Path, folder: Path, flow: Flow, why: str, services: Services, limits: Limits, staging: Path
) -> list[str]:
    lock = read_lock(folder)
    check_prompt_flows((flow,), Inputs(), {"a golden": True})
    if lock.form != WHOLE:
        return await _propose_short(model, folder, lock, flow, why, services, limits, staging)
    old = read_golden(folder)
    case = await _case(model, (flow,), limits, services)
    await _produce(case, staging, Inputs(golden=str(folder.absolute()), seed=lock.seed), flow, why, services, limits)
    return diff_goldens(old, read_golden(staging))


async def _propose_short(
    model: Path,
    folder: Path,
    lock: GoldenLock,
    flow: Flow,
    why: str,
    services: Services,
    limits: Limits,
    staging: Path,
) -> list[str]:
    """Of a golden that keeps prompts: these, answered again."""
    for problem in verify_golden(folder):
        raise BadGolden(problem)
    case = await _case(model, (flow,), limits, services, Inputs(data=Data(str(folder.absolute())), seed=lock.seed))
    await _produce(case, staging, case.inputs, flow, why, services, limits)
    await _shortened(case, staging, lock.form, limits, services)
    return diff_short(folder, staging)


def publish(staging: Path, folder: Path) -> GoldenLock:
    """Put a proposed golden in place: files first, the lock last. The lock keeps the reasons of the golden that was there."""
    if (folder / LOCK).exists():
        _write_lock(staging, msgspec.structs.replace(read_lock(staging), earlier=read_lock(folder).revisions()))
    for source in sorted(staging.iterdir(), key=lambda path: path.name == LOCK):
        with source.open("rb") as staged, tempfile.NamedTemporaryFile(dir=folder, delete=False) as copy:
            shutil.copyfileobj(staged, copy)
        Path(copy.name).chmod(0o644)
        Path(copy.name).replace(folder / source.name)
    return read_lock(folder)


async def _case(
    model: Path, flows: tuple[Flow, ...], limits: Limits, services: Services, inputs: Inputs | None = None
) -> Case:
    """Data that are given are read here, too."""
    request_of_model = ModelRequest(path=model, flows=flows, inputs=inputs or Inputs())
    (case,) = await inspect_models([request_of_model], limits, services)
    return case


async def _produce(
    case: Case, folder: Path, inputs: Inputs, flow: Flow, why: str, services: Services, limits: Limits
) -> GoldenLock:
    if not why.strip():
        raise UsageError("a golden needs a reason: give --reason")
    case = msgspec.structs.replace(case, inputs=inputs)
    job = ReferenceJob(case, flow, limits=limits, reference_dir=str(folder.absolute()), reason=why)
    result = await services.jobs.run(job)
    if result.outcome is not Outcome.OK:
        raise UsageError(f"flow '{flow.name}' did not produce a golden: {result.outcome.value}, {result.detail}")
    return read_lock(folder)


def give_reason(folder: Path, why: str) -> None:
    """Replace the reason in the lock of a proposed golden."""
    _write_lock(folder, msgspec.structs.replace(read_lock(folder), reason=why))


def _write_lock(folder: Path, lock: GoldenLock) -> None:
    text = msgspec.json.format(msgspec.json.encode(lock, order="sorted"), indent=2) + b"\n"
    (folder / LOCK).write_bytes(text)
