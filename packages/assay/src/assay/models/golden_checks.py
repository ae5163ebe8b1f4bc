"""What can be wrong with a golden folder: each check yields every problem it sees, a note each."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.core.dtype import CONTAINERS
from assay.core.golden import IDS, SKETCH, WHOLE, GoldenFile, GoldenLock, GoldenTensor
from assay.core.model import Model, TensorSpec
from assay.core.note import Note, noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.core.tensor_parts import whole_name
from assay.models.files import file_digest, is_lfs_pointer
from assay.models.golden_samples import Sample, holds_nan, model_name

LOCK = "golden.lock"
FILES = {
    "input": "inputs.safetensors",
    "output": "outputs.safetensors",
    "label": "labels.safetensors",
    "sketch": "sketches.safetensors",
}


ROLES = {WHOLE: ("input", "output"), IDS: ("input",), SKETCH: ("input", "sketch")}
"""By its form, what a golden has at least."""


def file_problems(folder: Path, lock: GoldenLock, roles: Sequence[str] = ()) -> Iterator[Note]:
    """Every file the lock lists is there, whole and unchanged; one for each of `roles` (those of its form) at least."""
    if lock.form not in ROLES:
        yield noted(GoldenCode.GOLDEN_FORM, lock=str(folder / LOCK), form=lock.form)
        return
    roles = roles or ROLES[lock.form]
    listed = {file.path for file in lock.files}
    for role in roles:
        if FILES[role] not in listed:
            yield noted(GoldenCode.GOLDEN_NOT_LISTED, lock=str(folder / LOCK), file=FILES[role])
    for file in lock.files:
        if file.path not in FILES.values():
            yield noted(GoldenCode.GOLDEN_FOREIGN_FILE, lock=str(folder / LOCK), file=file.path)
            continue
        path = folder / file.path
        try:
            yield from _content_problems(path, file)
        except FileNotFoundError:
            yield noted(GoldenCode.GOLDEN_FILE_MISSING, file=str(path))
        except OSError as error:
            yield noted(GoldenCode.GOLDEN_NOT_READ, file=str(path), error=str(error.strerror))


def _content_problems(path: Path, file: GoldenFile) -> Iterator[Note]:
    """What is there is looked at before it is read: a pipe or a device has no end. Raises OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        yield noted(GoldenCode.GOLDEN_IRREGULAR, file=str(path))
    elif status.st_size != file.size_bytes and is_lfs_pointer(path):
        yield noted(GoldenCode.GOLDEN_LFS_POINTER, file=str(path))
    elif status.st_size != file.size_bytes:
        yield noted(GoldenCode.GOLDEN_SIZE, file=str(path), size=status.st_size, listed=file.size_bytes)
    elif (digest := file_digest(path)) != file.sha256:
        yield noted(GoldenCode.GOLDEN_SHA256, file=str(path), digest=digest[:12], listed=file.sha256[:12])


def unused_problems(folder: Path, lock: GoldenLock) -> Iterator[Note]:
    """Files nobody will read. Hidden files, read-me files and the pointers of DVC belong to other tools."""
    used = {LOCK, *(file.path for file in lock.files)}
    for path in sorted(folder.iterdir()):
        foreign = path.name.startswith(".") or path.name.upper().startswith("README") or path.suffix == ".dvc"
        leftover = path.name.endswith(".tmp")
        if path.name not in used and (leftover or not foreign):
            yield noted(GoldenCode.GOLDEN_UNUSED_FILE, file=str(path))


def model_problems(folder: Path, lock: GoldenLock, digest: str) -> Iterator[Note]:
    """The golden was recorded for this very model."""
    if lock.model_digest != digest:
        yield noted(
            GoldenCode.GOLDEN_OF_ANOTHER,
            folder=str(folder),
            recorded=lock.model_digest[:12],
            digest=digest[:12],
        )


def signature_problems(folder: Path, lock: GoldenLock, model: Model) -> Iterator[Note]:
    """Names, dtypes and shapes of what is stored are those of the model; data are not read. Prompts alone are made into what it takes."""
    if lock.form != WHOLE:
        return
    tensors = [tensor for file in lock.files for tensor in file.tensors]
    for role, specs in (("input", model.inputs), ("output", model.outputs)):
        stored = [tensor for tensor in tensors if tensor.role == role]
        by_name = {spec.name: spec for spec in specs}
        names = {_declared_name(tensor, by_name) for tensor in stored}
        for name in by_name:
            if name not in names:
                yield noted(GoldenCode.GOLDEN_LACKS, folder=str(folder), role=role, name=name, model=model.name)
        for name in sorted(names - set(by_name)):
            yield noted(GoldenCode.GOLDEN_UNUSED_TENSOR, folder=str(folder), role=role, name=name, model=model.name)
        for tensor in stored:
            spec = by_name.get(_declared_name(tensor, by_name))
            if spec is not None and spec.dtype not in CONTAINERS:
                yield from _tensor_problems(folder, tensor, spec)


def _declared_name(tensor: GoldenTensor, specs: Mapping[str, TensorSpec]) -> str:
    """What the model calls it: the whole, of a part of a sequence, an optional or a map."""
    name = model_name(tensor.name)[0]
    whole = whole_name(name)
    return whole if name not in specs and whole in specs and specs[whole].dtype in CONTAINERS else name


def _tensor_problems(folder: Path, tensor: GoldenTensor, spec: TensorSpec) -> Iterator[Note]:
    name, index = model_name(tensor.name)
    shape = tensor.shape[1:] if index is None else tensor.shape
    where = (
        noted(GoldenCode.TENSOR_OF_GOLDEN, folder=str(folder), role=tensor.role, name=name)
        if index is None
        else noted(GoldenCode.TENSOR_OF_SAMPLE, folder=str(folder), role=tensor.role, name=name, sample=index)
    )
    if tensor.dtype != spec.dtype:
        yield noted(GoldenCode.GOLDEN_TENSOR_TYPE, where=where, dtype=tensor.dtype, wanted=spec.dtype)
    # Of an output the graph counts: where it gives another shape than it declares, the model contradicts itself.
    if tensor.role == "input" and spec.shape != ("...",) and not fits(shape, spec.shape):
        yield noted(GoldenCode.GOLDEN_TENSOR_SHAPE, where=where, shape=shape, wanted=spec.shape)


def fits(shape: Sequence[int], declared: Sequence[int | str]) -> bool:
    """Symbols fit any number: exporters give one symbol to dimensions that differ."""
    return len(shape) == len(declared) and all(
        isinstance(due, str) or actual == due for actual, due in zip(shape, declared, strict=True)
    )


def format_shape(shape: Iterable[int | str]) -> str:
    return "[" + ", ".join(map(str, shape)) + "]"


def nan_notes(samples: Sequence[Sample]) -> Iterator[str]:
    """Which outputs hold NaN, and how much of it: it is compared as equal to NaN, and whoever records it should know."""
    for name in dict.fromkeys(name for sample in samples for name in sample):
        arrays = [sample[name] for sample in samples if name in sample and holds_nan(sample[name])]
        count = sum(int(np.isnan(array).sum()) for array in arrays)
        if count:
            yield f"output {name!r} is NaN in {count} of {sum(array.size for array in arrays)} elements"
