"""The inputs of a case and what they should give, as the worker reads them."""

from __future__ import annotations

from pathlib import Path

from assay.core.job import Job
from assay.core.reference import Reference, ReferenceKind
from assay.errors import BadGolden
from assay.models.conversion import form_of
from assay.models.golden_samples import unpack
from assay.models.goldens import Golden, read_golden, read_lock
from assay.models.tensors import TensorFile
from assay.plugins import library_of
from assay.ports import Tensor
from assay.worker.original import inputs_of_original


def golden_of(job: Job) -> Golden:
    """The golden of the case, or the one that the oracle recorded for this run. Raises BadGolden."""
    if job.case.inputs.golden:
        return read_golden(Path(job.case.inputs.golden), model_digest=job.case.model.digest)
    return read_golden(Path(job.reference), model_digest=job.case.model.digest)


def reference_of(job: Job, quantized: Path | None = None) -> Reference:
    """Whose answers the job compares with. `quantized` is the model that transforms have made, where its answers are evaluated in
    this process: then they are the evaluator's, whatever the golden of the float model is."""
    engine = library_of(job.flow)
    form = form_of(quantized or Path(job.case.model.source))
    if quantized is not None and not job.case.inputs.golden:
        producer = "reference" if form == "onnx" else "torch-eager"
        kind = ReferenceKind.ORACLE if form == "onnx" else ReferenceKind.DEFINITION
        return Reference(kind, producer, "", library_of(producer), engine)
    lock = read_lock(Path(job.case.inputs.golden or job.reference))
    library = library_of(lock.producer)
    if job.case.contract.published or (form != "onnx" and library == "torch"):
        kind = ReferenceKind.DEFINITION
    else:
        kind = ReferenceKind.GOLDEN if job.case.inputs.golden else ReferenceKind.ORACLE
    return Reference(kind, lock.producer, lock.producer_version, library, engine)


def given(job: Job) -> tuple[list[dict[str, Tensor]], dict[str, Tensor]]:
    """Inputs and labels to record from, of a case that has some: those of its original, a golden folder (of any model), or one
    safetensors file with every input stacked on axis 0."""
    if job.case.original is not None:
        return inputs_of_original(job, job.case.original)
    path = Path(job.case.inputs.golden)
    if path.is_dir():
        golden = read_golden(path)
        return golden.inputs, golden.labels
    return _stacked(path, job), {}


def _stacked(path: Path, job: Job) -> list[dict[str, Tensor]]:
    if not path.is_file():
        raise BadGolden(f"{path} is neither a golden folder nor a safetensors file; give one of them as inputs")
    with TensorFile(path) as opened:
        tensors = {name: opened.read(name) for name in opened.tensors}
    wanted = {spec.name for spec in job.case.model.inputs}
    if set(tensors) != wanted:
        raise BadGolden(f"{path} holds {sorted(tensors)}, the model takes {sorted(wanted)}; store one tensor per input")
    counts = {array.shape[0] if array.ndim else 0 for array in tensors.values()}
    if len(counts) != 1 or 0 in counts:
        raise BadGolden(
            f"{path}: the inputs hold different numbers of samples ({sorted(counts)}); stack them on axis 0"
        )
    return unpack(tensors, counts.pop(), "input")
