"""What can be wrong with a golden folder: each check yields every problem it sees, one sentence each."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.core.dtype import CONTAINERS
from assay.core.golden import IDS, SKETCH, WHOLE, GoldenFile, GoldenLock, GoldenTensor
from assay.core.model import Model, TensorSpec
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


def file_problems(folder: Path, lock: GoldenLock, roles: Sequence[str] = ()) -> Iterator[str]:
    """Every file the lock lists is there, whole and unchanged; one for each of `roles` (those of its form) at least."""
    if lock.form not in ROLES:
        yield f"{folder / LOCK} is of form {lock.form!r}, which no golden has; record the golden again"
        return
    roles = roles or ROLES[lock.form]
    listed = {file.path for file in lock.files}
    for role in roles:
        if FILES[role] not in listed:
            yield f"{folder / LOCK} lists no {FILES[role]}; record the golden again"
    for file in lock.files:
        if file.path not in FILES.values():
            yield f"{folder / LOCK} lists {file.path!r}, which no golden has; record the golden again"
            continue
        path = folder / file.path
        try:
            yield from _content_problems(path, file)
        except FileNotFoundError:
            yield f"{path} is missing, though {LOCK} lists it; restore it or record the golden again"
        except OSError as error:
            yield f"{path} cannot be read ({error.strerror}); make it readable"


def _content_problems(path: Path, file: GoldenFile) -> Iterator[str]:
    """What is there is looked at before it is read: a pipe or a device has no end. Raises OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        yield f"{path} is not a regular file; restore it or record the golden again"
    elif status.st_size != file.size_bytes and is_lfs_pointer(path):
        yield f"{path} is a Git LFS pointer, not the tensors themselves; run git lfs pull"
    elif status.st_size != file.size_bytes:
        yield f"{path} has {status.st_size} bytes, {LOCK} says {file.size_bytes}; restore it or run assay golden update"
    elif (digest := file_digest(path)) != file.sha256:
        yield (
            f"{path} has sha256 {digest[:12]}, {LOCK} says {file.sha256[:12]}; restore it or run assay golden update"
        )


def unused_problems(folder: Path, lock: GoldenLock) -> Iterator[str]:
    """Files nobody will read. Hidden files, read-me files and the pointers of DVC belong to other tools."""
    used = {LOCK, *(file.path for file in lock.files)}
    for path in sorted(folder.iterdir()):
        foreign = path.name.startswith(".") or path.name.upper().startswith("README") or path.suffix == ".dvc"
        leftover = path.name.endswith(".tmp")
        if path.name not in used and (leftover or not foreign):
            yield f"{path} is unused: {LOCK} does not list it; remove it"


def model_problems(folder: Path, lock: GoldenLock, digest: str) -> Iterator[str]:
    """The golden was recorded for this very model."""
    if lock.model_digest != digest:
        yield (
            f"{folder} was recorded for model {lock.model_digest[:12]}, but this model is {digest[:12]}; "
            "run assay golden update if the change is intended, or judge this model by that one's answers with "
            "--golden-of-another-model (or --reference OLD)"
        )


def signature_problems(folder: Path, lock: GoldenLock, model: Model) -> Iterator[str]:
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
                yield f"{folder} lacks the {role} {name!r} of model {model.name}; run assay golden update"
        for name in sorted(names - set(by_name)):
            yield f"{folder} has an unused {role} {name!r}, which model {model.name} lacks; run assay golden update"
        for tensor in stored:
            spec = by_name.get(_declared_name(tensor, by_name))
            if spec is not None and spec.dtype not in CONTAINERS:
                yield from _tensor_problems(folder, tensor, spec)


def _declared_name(tensor: GoldenTensor, specs: Mapping[str, TensorSpec]) -> str:
    """What the model calls it: the whole, of a part of a sequence, an optional or a map."""
    name = model_name(tensor.name)[0]
    whole = whole_name(name)
    return whole if name not in specs and whole in specs and specs[whole].dtype in CONTAINERS else name


def _tensor_problems(folder: Path, tensor: GoldenTensor, spec: TensorSpec) -> Iterator[str]:
    name, index = model_name(tensor.name)
    shape = tensor.shape[1:] if index is None else tensor.shape
    where = f"{folder}: {tensor.role} {name!r}" + ("" if index is None else f" of sample {index}")
    if tensor.dtype != spec.dtype:
        yield f"{where} is {tensor.dtype}, the model says {spec.dtype}; run assay golden update"
    # Of an output the graph counts: where it gives another shape than it declares, the model contradicts itself.
    if tensor.role == "input" and spec.shape != ("...",) and not fits(shape, spec.shape):
        yield f"{where} has shape {format_shape(shape)}, the model says {format_shape(spec.shape)}; run assay golden update"


def fits(shape: Sequence[int], declared: Sequence[int | str]) -> bool:
    """Symbols fit any number: exporters give one symbol to dimensions that differ."""
    return len(shape) == len(declared) and all(
        isinstance(wanted, str) or actual == wanted for actual, wanted in zip(shape, declared, strict=True)
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
