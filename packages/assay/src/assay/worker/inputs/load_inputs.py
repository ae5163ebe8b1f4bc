"""The inputs of a case and what they should give, as the worker reads them."""

from __future__ import annotations

import getpass
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from msgspec import UNSET

from assay.core.golden import GIVEN, SKETCH, GoldenLock
from assay.core.job import AnsweredJob, InspectJob
from assay.core.job_base import FlowJob, InputsJob, Job
from assay.core.model import Model
from assay.core.reference import Reference, ReferenceKind
from assay.models.conversion import format_of
from assay.models.goldens import Golden, read_golden, read_inputs, read_lock, write_golden
from assay.models.model_precision import coarse_types
from assay.models.own_data import read_data
from assay.models.own_data.prompts.schedules import Scheduled, scheduled
from assay.models.own_data.prompts.short_goldens import SketchedGolden, check_signature, read_sketches
from assay.models.own_data.prompts.signature import signature_of
from assay.models.own_data.state import without_fed
from assay.plugins import library_of
from assay.ports import Tensor
from assay.worker.inputs.input_choice import drawn, new_plan
from assay.worker.inputs.original import inputs_of_original


@dataclass(frozen=True)
class Source:
    """Inputs, one dict for each call, and what came with them; `state` and `sequences` are those of a golden's lock."""

    inputs: list[dict[str, Tensor]]
    labels: dict[str, Tensor] = field(default_factory=dict)
    state: dict[str, str] = field(default_factory=dict)
    sequences: tuple[int, ...] = ()


def check_golden(folder: Path, model: Model) -> Golden | None:
    """The golden; None where it keeps sketches alone. Raises BadGolden where it is broken, or not of this model."""
    if read_lock(folder).form != SKETCH:
        return read_golden(folder, model_digest=model.digest, model=model)
    feed(read_sketches(folder, model.digest), model)
    return None


def feed(golden: SketchedGolden, model: Model) -> tuple[Source, Scheduled]:
    """Its prompts in every schedule, each on the cache that the engine gives itself. Raises BadGolden where the model is another one
    than its sketches are of."""
    signature = signature_of(model, golden.lock.state)
    check_signature(golden, signature)
    schedules = scheduled(golden.prompts, signature)
    calls = [call for sequence in schedules.calls for call in sequence]
    sequences = tuple(map(len, schedules.calls)) if signature.state else ()
    return Source(calls, schedules.labels, dict(signature.state), sequences), schedules


def load_golden(job: InputsJob) -> Golden:
    """The golden of the case, or the one that the oracle recorded for this run; where nobody has answers inputs alone. Raises
    BadGolden."""
    if job.case.inputs.golden:
        return _stored(Path(job.case.inputs.golden), job.case.model)
    if why := no_reference_reason(job):
        return _inputs_alone(job, why)
    return read_golden(Path(job.reference_dir), model_digest=job.case.model.digest)


def _stored(folder: Path, model: Model) -> Golden:
    """Of one with sketches the inputs of calls that need no call before them."""
    if read_lock(folder).form != SKETCH:
        return read_golden(folder, model_digest=model.digest)
    golden = read_sketches(folder, model.digest)
    source, _ = feed(golden, model)
    due = {tensor_spec.name for tensor_spec in model.inputs}
    inputs = [call for call in source.inputs if due <= {*call}]
    return Golden(golden.lock, inputs, [{} for _ in inputs], {})


def reference_of(job: InputsJob, quantized: Path | None = None) -> Reference:
    """Whose answers the job compares with. `quantized` is the model that transforms have made, where its answers are evaluated in
    this process: then they are the evaluator's, whatever the golden of the float model is."""
    engine = library_of(job.flow) if isinstance(job, FlowJob) else ""
    form = format_of(quantized or Path(job.case.model.source))
    if quantized is not None:
        producer = "reference" if form == "onnx" else "torch-eager"
        kind = ReferenceKind.ORACLE if form == "onnx" else ReferenceKind.DEFINITION
        return Reference(kind, producer, "", library_of(producer), engine, has_source(job))
    lock = read_lock(Path(job.case.inputs.golden or job.reference_dir))
    library = lock.library or library_of(lock.producer)
    if job.case.contract.published or (form != "onnx" and library == "torch"):
        kind = ReferenceKind.DEFINITION
    else:
        kind = ReferenceKind.GOLDEN if job.case.inputs.golden else ReferenceKind.ORACLE
    return Reference(kind, lock.producer, lock.producer_version, library, engine, has_source(job))


def no_reference_reason(job: Job) -> str:
    """Why nobody has answers to compare with; "" where somebody has, or nobody is asked."""
    return job.no_reference_reason if isinstance(job, AnsweredJob) else ""


def _inputs_alone(job: InputsJob, why: str) -> Golden:
    source = load_inputs(job) if has_source(job) else Source(drawn(job, new_plan(job), samples=job.case.inputs.samples))
    inputs = source.inputs
    model, seed = job.case.model, job.case.inputs.seed
    lock = GoldenLock(model.digest, model.name, len(inputs), seed, "", "", "", why, "", ())
    return Golden(lock, inputs, [{} for _ in inputs], source.labels)


def has_source(job: InputsJob) -> bool:
    """Whether inputs are given, and none need be planned."""
    recipe = job.case.inputs
    return bool(recipe.golden or recipe.given or recipe.data) or job.case.original is not None


def load_inputs(job: InputsJob) -> Source:
    """What to record from, of a case that has some: the inputs of its original, those that a user gave, data as they lie, or a
    golden folder (of any model). Raises BadGolden."""
    recipe = job.case.inputs
    if job.case.original is not None:
        return Source(*inputs_of_original(job, job.case.original))
    if recipe.given:
        file_inputs = read_inputs(Path(recipe.given))
        return Source(file_inputs.inputs, file_inputs.labels, file_inputs.lock.state, file_inputs.lock.sequences)
    if recipe.data is not None and not recipe.golden:
        own_data = read_data(recipe.data, job.case.model)
        return Source(own_data.inputs, own_data.labels, dict(own_data.state), own_data.sequences)
    golden = read_golden(Path(recipe.golden))
    lock = golden.lock
    return Source(without_fed(golden.inputs, lock), golden.labels, lock.state, lock.sequences)


def take_data(job: InspectJob, model: Model) -> None:
    """Read what the case brings as `inputs.data` into the folder `job.data_dir`: a golden where outputs came with it, inputs
    that are yet to be answered else. Raises BadGolden and UsageError."""
    data = job.case.inputs.data
    assert data is not None
    own_data = read_data(data, model)
    write_golden(
        Path(job.data_dir),
        model=model,
        inputs=own_data.inputs,
        outputs=own_data.outputs,
        labels=own_data.labels,
        seed=job.case.inputs.seed,
        producer=GIVEN,
        producer_version="",
        who=getpass.getuser(),
        reason=f"given as {data.source}",
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        state=dict(own_data.state),
        sequences=own_data.sequences,
        coarse=coarse_types(Path(job.case.model.source)) if own_data.outputs else UNSET,
    )
