"""A model judged by the one that it is to be still: the pair looked at, the jobs that compare it, and their tolerance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path

import msgspec

from assay.core.case import Case, Inputs, Original
from assay.core.digest import sha256_bytes, value_digest
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.empty_result import empty_result
from assay.core.golden import GoldenLock
from assay.core.job import AnyJob, ChangeJob, ToleranceJob
from assay.core.job_base import InputsJob, Job
from assay.core.model import Model, TensorSpec
from assay.core.note import NoteCode, noted
from assay.core.result import Result
from assay.models.code_digest import rooms_digest
from assay.models.golden_samples import model_name
from assay.models.goldens import read_lock
from assay.pipeline.adapters import Services
from assay.pipeline.name_mapping import map_names
from assay.pipeline.references.ensure_references import ensure_references

ANSWERING = (
    "core/input_plan.py",
    "models/input_plan",
    "models/random_inputs.py",
    "models/flatten.py",
    "worker/inputs",
    "worker/engine/sequences.py",
    "worker/reference/compute_reference.py",
    "numerics",
    "backends/onnx_reference.py",
)
"""What of this package draws the inputs of a case, feeds them and computes its reference answers."""

ANSWERING_PROGRAMS = (*ANSWERING, "backends/torch/engine.py", "backends/torch/float64.py")
"""The same of a program of torch."""


@dataclass(frozen=True, kw_only=True)
class OriginalRequest:
    """`path` None: only the golden in the model's inputs is known of it. Maps go from names of the new model to its own."""

    path: Path | None = None
    inputs: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, str] = field(default_factory=dict)


def original_of(model: Model, request: OriginalRequest, inputs: Inputs, original: Model | None) -> Original:
    """The pair, both looked at (`original` None: only its golden is there). Raises UsageError where they do not fit."""
    lock = read_lock(Path(inputs.golden)) if original is None else None
    old = _of_golden(lock) if lock is not None else original
    assert old is not None
    names = map_names(model, old, request.inputs, request.outputs)
    precision = _precision(model, old)
    is_open = lock is not None and lock.coarse is msgspec.UNSET and _is_grid(precision)
    return Original(
        model=old,
        golden=inputs.golden,
        inputs=names.inputs,
        outputs=names.outputs,
        without=names.without,
        precision=precision,
        notes=(*names.notes, *((noted(NoteCode.OLD_TYPES_UNKNOWN),) if is_open else ())),
    )


def _of_golden(lock: GoldenLock) -> Model:
    """What a golden says of the model that it was recorded for."""
    specs: dict[str, list[TensorSpec]] = {"input": [], "output": [], "label": [], "sketch": []}
    for tensor in (golden_tensor for file in lock.files for golden_tensor in file.tensors):
        name, sample = model_name(tensor.name)
        if all(tensor_spec.name != name for tensor_spec in specs[tensor.role]):
            shape = tensor.shape[1:] if sample is None else tuple("?" for _ in tensor.shape)
            specs[tensor.role].append(TensorSpec(name, tensor.dtype, shape))
    coarse = () if lock.coarse is msgspec.UNSET else lock.coarse
    return Model(lock.model_name, "", lock.model_digest, tuple(specs["input"]), tuple(specs["output"]), coarse=coarse)


def _precision(new: Model, old: Model) -> str:
    """The coarsest type of the new model that its original does not have; what is quantized comes before every rounding."""
    added = [dtype for dtype in new.coarse if dtype not in old.coarse]
    quantized = [dtype for dtype in added if _is_grid(dtype)]
    if quantized:
        return quantized[0]
    return max(added, key=UNIT_ROUNDOFF.__getitem__, default="float32")


def is_quantized(original: Original) -> bool:
    """Whether the new model has a grid that the original has not: how far it is off is a loss, and no mistake."""
    return _is_grid(original.precision)


def _is_grid(dtype: str) -> bool:
    return dtype not in UNIT_ROUNDOFF or dtype.startswith(("float8", "float4"))


def original_case(case: Case) -> Case:
    """The original with the same recipe of inputs, sizes that only the new model fixes included. The task is the new model's: it names
    outputs that may have other names here."""
    original = case.original
    assert original is not None
    dims = {**_fixed_sizes(case.model, original), **case.inputs.dims}
    symbols = {size for spec in original.model.inputs for size in spec.shape if isinstance(size, str)}
    inputs = msgspec.structs.replace(
        case.inputs, golden=original.golden, dims={name: sizes for name, sizes in dims.items() if name in symbols}
    )
    contract = msgspec.structs.replace(case.contract, task_metric=None, task_metric_options={})
    return Case(f"{original.model.name} (reference of {case.name})", original.model, inputs, contract)


def _fixed_sizes(new: Model, original: Original) -> dict[str, tuple[int, int, int]]:
    """Dimensions that the original leaves open and the new model fixes."""
    theirs = {tensor_spec.name: tensor_spec.shape for tensor_spec in original.model.inputs}
    return {
        symbol: (size, size, size)
        for spec in new.inputs
        for symbol, size in zip(theirs[original.inputs[spec.name]], spec.shape, strict=False)
        if isinstance(symbol, str) and isinstance(size, int)
    }


def identity(case: Case) -> tuple[object, ...]:
    """What the answers of a case depend on beside its own model and recipe; empty without an original."""
    original = case.original
    if original is None:
        return ()
    lock = sha256_bytes((Path(original.golden) / "golden.lock").read_bytes()) if original.golden else ""
    return (original.model.digest, lock, original.inputs, _fixed_sizes(case.model, original))


async def record_originals(jobs: Sequence[AnyJob], services: Services) -> list[Result]:
    """Make sure that the original of these jobs of one case has its answers.

    Returns the results of the jobs whose original cannot have any."""
    originals = [job for job in jobs if isinstance(job, InputsJob)]
    by_key = {
        job.original_dir: msgspec.structs.replace(
            job, case=original_case(job.case), reference_dir=job.original_dir, original_dir=""
        )
        for job in originals
        if job.original_dir and job.case.original is not None and not job.case.original.golden
    }
    without = await ensure_references(list(by_key.values()), services)
    failed = {
        job.original_dir: result
        for job in originals
        for result in without
        if _is_of(result, by_key.get(job.original_dir))
    }
    return [
        msgspec.structs.replace(
            empty_result(job, failed[job.original_dir].outcome),
            stage=failed[job.original_dir].stage,
            cause=failed[job.original_dir].cause,
            detail=f"there is nothing to compare with: {failed[job.original_dir].detail}",
        )
        for job in originals
        if job.original_dir in failed
    ]


def _is_of(result: Result, job: Job | None) -> bool:
    return job is not None and result.job_key == job.key


def tolerance_of(job: ToleranceJob) -> ToleranceJob:
    """The job by whose model and inputs the tolerance of this one is derived: the original's, where its file is there."""
    original = job.case.original
    if not isinstance(job, ChangeJob) or original is None or not original.model.source:
        return job
    reference = "" if original.golden else job.original_dir
    return msgspec.structs.replace(job, case=original_case(job.case), reference_dir=reference, original_dir="")


def original_folder(case: Case, recorded: Path) -> str:
    """Where the answers of the original lie: its golden, or where they are recorded."""
    assert case.original is not None
    return str(Path(case.original.golden).absolute() if case.original.golden else recorded)


def oracle_digest(case: Case, inputs: Inputs) -> str:
    """Identity of the reference answers of a case: what another rule would draw, or another oracle answer, is made again. What counts:
    the model, the recipe of its inputs, its original, the source in `ANSWERING`, the version of onnx; for a program of torch
    `ANSWERING_PROGRAMS` and the version of torch, too."""
    return value_digest((case.model.digest, inputs, *identity(case), *made_by(case.model.format)))[:32]


@cache
def made_by(form: str) -> tuple[str, ...]:
    """The code and the versions behind the answers to models of this format. Read once in a process: a version costs half a millisecond."""
    rooms, libraries = (ANSWERING_PROGRAMS, ("onnx", "torch")) if form == "torch" else (ANSWERING, ("onnx",))
    versions = (
        next((distribution.version for distribution in metadata.distributions(name=name)), "") for name in libraries
    )
    return (rooms_digest(*rooms), *versions)
