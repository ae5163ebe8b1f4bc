"""A model in the form that a transform or a backend reads: a conversion is a stage, and is recorded like a transform."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from assay.core.engine_info import AppliedTransform
from assay.core.job_base import InputsJob
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.core.outcome import Stage
from assay.core.refusals.model_codes import ModelCode
from assay.errors import InvalidModel, Unavailable
from assay.models.conversion import convert_to, format_of
from assay.models.files import file_digest
from assay.models.golden_checks import LOCK
from assay.models.golden_samples import stored_shapes
from assay.models.goldens import read_lock
from assay.models.input_plan.symbols import planned_shapes
from assay.worker.inputs.input_choice import new_plan
from assay.worker.stages import Stages

if TYPE_CHECKING:
    from assay.worker.engine.transformed_model import TransformedModel


def model_to_read(job: InputsJob, accepts: str) -> Model:
    """Of those that the case has: in the form that the backend, and with it any transform, reads."""
    program = job.case.program
    return program if program is not None and accepts == "torch" else job.case.model


def model_path(job: InputsJob, accepts: str) -> Path:
    """The file of the model to begin with."""
    return Path(model_to_read(job, accepts).source)


def to_format(rewritten: TransformedModel, form: str, job: InputsJob, stages: Stages) -> TransformedModel:
    """The same where the model has that form, else converted. Raises what `convert_to` raises, in the transform stage."""
    model, applied = convert(rewritten.model, form, job, stages)
    return replace(rewritten, model=model, applied=(*rewritten.applied, *applied))


def convert(model: Path, form: str, job: InputsJob, stages: Stages) -> tuple[Path, tuple[AppliedTransform, ...]]:
    """The model in that form, and what was done for it: `onnx->torch`, say, with the version of torch."""
    here = format_of(model)
    if here == form:
        return model, ()
    with stages.enter(Stage.IMPORT):
        _import_torch(here, form)
    with stages.enter(Stage.TRANSFORM):
        folder = Path(tempfile.mkdtemp(prefix="form-", dir=job.scratch or None))
        made = convert_to(model, form, folder, shapes=_fed(job))
        if here == "factory":
            _check_repeats(model, made if form == "torch" else folder / "factory.pt2", job)
        return made, (AppliedTransform(f"{here}->{form}", metadata.version("torch"), file_digest(made)),)


def _import_torch(here: str, form: str) -> None:
    """Raises Unavailable where there is none: the environment of a backend holds what that needs."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise Unavailable(noted(ModelCode.CONVERSION_WITHOUT_TORCH, given=here, asked=form)) from error


def to_onnx(model: Path, job: InputsJob) -> Path:
    """The model as an ONNX graph, which tolerances are derived from. Raises what `convert_to` raises."""
    folder = Path(tempfile.mkdtemp(prefix="graph-", dir=job.scratch or None))
    return convert_to(model, "onnx", folder, shapes=_fed(job))


def _fed(job: InputsJob) -> dict[str, tuple[int, ...]]:
    """The shapes of the inputs that will be fed, as far as they are told without reading a tensor: where tracing fixes a
    dimension (the steps of a recurrent layer), it is fixed to what is needed."""
    original = job.case.original
    renamed = {theirs: name for name, theirs in original.inputs.items()} if original is not None else {}
    own = job.case.inputs.golden or job.case.inputs.given
    for folder, names in ((own, {}), (job.reference_dir, {}), (job.original_dir, renamed)):
        if folder and (Path(folder) / LOCK).is_file():
            shapes = stored_shapes(read_lock(Path(folder)))
            return {names.get(name, name): shape for name, shape in shapes.items()}
    known = tuple(spec for spec in job.case.model.inputs if spec.shape != ("...",))
    ranked = msgspec.structs.replace(job.case.model, inputs=known)
    return planned_shapes(ranked, new_plan(job), batch=job.case.inputs.batch)


def _check_repeats(source: Path, made: Path, job: InputsJob) -> None:
    """A factory is called in every worker: it must build one model."""
    from assay.models.program import open_program, program_digest

    digest = program_digest(open_program(made))
    if job.case.model.digest and digest != job.case.model.digest:
        raise InvalidModel(
            noted(NoteCode.FACTORY_CHANGES, source=str(source), digest=digest[:12], before=job.case.model.digest[:12])
        )
