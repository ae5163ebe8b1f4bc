"""Golden folders: inputs, outputs and labels in safetensors, and golden.lock that says what and whose they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from assay.core.golden import WHOLE, GoldenFile, GoldenLock, GoldenTensor
from assay.core.input_plan import InputPlan
from assay.core.model import Model
from assay.core.note import Note, noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.errors import BadGolden, NotWritable
from assay.models.files import file_digest, flush_to_disk, is_lfs_pointer
from assay.models.golden_checks import (
    FILES,
    LOCK,
    file_problems,
    model_problems,
    signature_problems,
    unused_problems,
)
from assay.models.golden_diff import diff_goldens
from assay.models.golden_samples import Array, Golden, Sample, model_name, pack, unpack
from assay.models.tensor_part import digests
from assay.models.tensors import TensorFile, write_tensors

__all__ = ["Golden", "diff_goldens", "read_golden", "read_lock", "verify_golden", "write_golden"]

_VERSION = 3
"""Since 3, a golden may keep prompts and no answers.
Since 2, samples may be calls of a sequence, a sample may have parts of a sequence or map that others lack, and outputs may be left
out. What needs none of that is written as 1, so that an earlier assay reads it."""


class _Versioned(msgspec.Struct):
    version: int = 1


def read_lock(folder: Path) -> GoldenLock:
    """The contents of golden.lock. Raises `BadGolden` with one sentence for whatever keeps it from being read."""
    path = folder / LOCK
    if not folder.is_dir():
        raise BadGolden(noted(GoldenCode.GOLDEN_NO_FOLDER, folder=str(folder)))
    if path.exists() and not path.is_file():  # a pipe would keep its reader waiting
        raise BadGolden(noted(GoldenCode.GOLDEN_IRREGULAR, file=str(path)))
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadGolden(noted(GoldenCode.GOLDEN_NO_LOCK, folder=str(folder))) from None
    except OSError as error:
        raise BadGolden(noted(GoldenCode.GOLDEN_NOT_READ, file=str(path), error=str(error.strerror))) from None
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
        if version > _VERSION:
            raise BadGolden(noted(GoldenCode.GOLDEN_VERSION, file=str(path), version=version, known=_VERSION))
        lock = msgspec.json.decode(data, type=GoldenLock)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if is_lfs_pointer(path):
            raise BadGolden(noted(GoldenCode.GOLDEN_LFS_POINTER, file=str(path))) from None
        raise BadGolden(noted(GoldenCode.GOLDEN_LOCK_DAMAGED, file=str(path), error=str(error))) from None
    if lock.samples < 1:
        raise BadGolden(noted(GoldenCode.GOLDEN_SAMPLE_COUNT, file=str(path), samples=lock.samples))
    return lock


def read_golden(folder: Path, model_digest: str | None = None, *, model: Model | None = None) -> Golden:
    """The samples, after everything about them was checked. Raises `BadGolden` with the first problem as one sentence.

    With `model_digest` the golden must be for that model; with `model` it must also fit its signature. NaN and infinities
    are values like others: missing features of a tree, absent atoms, the logarithm of a negative number.
    """
    lock = read_lock(folder)
    if lock.form != WHOLE:
        raise BadGolden(noted(GoldenCode.GOLDEN_OF_PROMPTS, folder=str(folder), form=lock.form))
    digest = model_digest if model_digest is not None else model.digest if model is not None else None
    for problem in chain(file_problems(folder, lock), _model_problems(folder, lock, model, digest)):
        raise BadGolden(problem)
    return _load(folder, lock)


def read_inputs(folder: Path, model_digest: str | None = None) -> Golden:
    """A golden, or inputs that nobody has answered yet, without outputs. Raises `BadGolden`."""
    lock = read_lock(folder)
    for problem in chain(
        file_problems(folder, lock, roles=("input",)), _model_problems(folder, lock, None, model_digest)
    ):
        raise BadGolden(problem)
    tensors = read_tensors(folder, lock)
    inputs = unpack(tensors["input"], lock.samples, "input", tuple(lock.state.values()))
    return Golden(lock, inputs, [], tensors["label"])


def verify_golden(folder: Path, model: Model | None = None) -> list[str | Note]:
    """All problems at once, unused files among them; empty when the golden is fine."""
    try:
        lock = read_lock(folder)
    except BadGolden as error:
        return [error.reason]
    broken = list(file_problems(folder, lock))
    problems: list[str | Note] = [
        *broken,
        *unused_problems(folder, lock),
        *_model_problems(folder, lock, model, model.digest if model is not None else None),
    ]
    if not broken:
        try:
            _load(folder, lock) if lock.form == WHOLE else read_tensors(folder, lock)
        except BadGolden as error:
            problems.append(error.reason)
    return problems


def write_golden(
    folder: Path,
    *,
    model: Model,
    inputs: Sequence[Sample],
    outputs: Sequence[Sample],
    labels: Mapping[str, Array] | None = None,
    seed: int,
    producer: str,
    producer_version: str,
    who: str,
    reason: str,
    created_at: str,
    plan: InputPlan | None = None,
    state: Mapping[str, str] | None = None,
    sequences: Sequence[int] = (),
    library: str = "",
    kept: bool = True,
    refusals: str = "",
    coarse: tuple[str, ...] | UnsetType = UNSET,
) -> GoldenLock:
    """Write or replace a golden; equal content gives equal bytes. Without any `outputs` these are inputs that are yet to be
    answered, which `read_inputs` reads. `state` and all behind it are those of the lock; `coarse` stays as it was if unset.

    Every file is written beside its place and flushed, then all are renamed, the lock last: after a power cut the
    folder holds the old golden, the new one, or one that `read_golden` refuses, never a mixture that passes. Two
    processes that write the same at once both succeed. Raises
    `BadGolden` for samples that make no golden, before anything changes, and `NotWritable`.
    """
    contents = _contents(inputs, outputs, labels or {}, () if outputs else (state or {}).values())
    lock = GoldenLock(
        model_digest=model.digest,
        model_name=model.name,
        samples=len(inputs),
        seed=seed,
        producer=producer,
        producer_version=producer_version,
        who=who,
        reason=reason,
        created_at=created_at,
        files=(),
        plan=plan,
        state=dict(state or {}),
        sequences=tuple(sequences),
        library=library,
        kept=kept,
        refusals=refusals,
        coarse=_coarse_before(folder, model) if coarse is UNSET else coarse,
    )
    return write_contents(folder, lock, contents)


def write_contents(folder: Path, lock: GoldenLock, contents: Mapping[str, dict[str, Array]]) -> GoldenLock:
    """Write or replace a golden, as `write_golden` does: the tensors of each role, and the lock without its files."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        files = tuple(_stage(folder, role, tensors) for role, tensors in contents.items())
        lock = msgspec.structs.replace(lock, files=files)
        lock = msgspec.structs.replace(lock, version=_version_of(lock))
        _staged(folder, LOCK).write_bytes(_lock_text(lock))
        _publish(folder, [*(file.path for file in files), LOCK])
    except OSError as error:
        raise NotWritable(
            noted(GoldenCode.GOLDEN_NOT_WRITABLE, folder=str(folder), error=str(error.strerror))
        ) from None
    except BadGolden as error:
        raise BadGolden(noted(GoldenCode.GOLDEN_NOT_WRITTEN, folder=str(folder), error=error.reason)) from None
    finally:
        _clear(folder)
    return lock


def _coarse_before(folder: Path, model: Model) -> tuple[str, ...] | UnsetType:
    with suppress(BadGolden):
        before = read_lock(folder)
        return before.coarse if before.model_digest == model.digest else UNSET
    return UNSET


def _lock_text(lock: GoldenLock) -> bytes:
    return msgspec.json.format(msgspec.json.encode(lock, order="sorted"), indent=2) + b"\n"


def _contents(
    inputs: Sequence[Sample], outputs: Sequence[Sample], labels: Mapping[str, Array], partial: Iterable[str]
) -> dict[str, dict[str, Array]]:
    if not inputs or (outputs and len(inputs) != len(outputs)):
        raise BadGolden(noted(GoldenCode.GOLDEN_PAIRS, inputs=len(inputs), outputs=len(outputs)))
    for name, array in labels.items():
        if array.ndim == 0 or array.shape[0] != len(inputs):
            raise BadGolden(noted(GoldenCode.GOLDEN_LABEL, label=name, shape=array.shape, samples=len(inputs)))
    contents = {"input": pack(inputs, "input", tuple(partial))}
    if outputs:
        contents["output"] = pack(outputs, "output")
    return contents | ({"label": dict(labels)} if labels else {})


def _version_of(lock: GoldenLock) -> int:
    """The earliest that knows what is in it."""
    indices: dict[tuple[str, str], int] = {}
    for file in lock.files:
        for tensor in file.tensors:
            name, index = model_name(tensor.name)
            if index is not None:
                indices[tensor.role, name] = indices.get((tensor.role, name), 0) + 1
    whole = len(lock.files) > 1 and all(count == lock.samples for count in indices.values())
    if lock.form != WHOLE:
        return _VERSION
    return 1 if whole and not lock.state else 2


def _staged(folder: Path, name: str) -> Path:
    """Of this process: another may write the same golden now, as two runs do that lack the same reference."""
    return folder / f".{name}.{os.getpid()}.tmp"


def _stage(folder: Path, role: str, tensors: Mapping[str, Array]) -> GoldenFile:
    """Write one file beside its place, and describe it."""
    path = _staged(folder, FILES[role])
    write_tensors(path, tensors)
    tensor_digests = digests(path)
    with TensorFile(path) as file:
        stored = tuple(
            # In the order given, which is the model's: safetensors keeps none, the lock does.
            GoldenTensor(name, role, file.tensors[name].dtype, file.tensors[name].shape, tensor_digests[name])
            for name in tensors
        )
    return GoldenFile(path=FILES[role], sha256=file_digest(path), size_bytes=path.stat().st_size, tensors=stored)


def _clear(folder: Path) -> None:
    for name in (*FILES.values(), LOCK):
        with suppress(OSError):  # nothing may hide why the golden was not written
            _staged(folder, name).unlink()


def _publish(folder: Path, names: Sequence[str]) -> None:
    """Flush all staged files, then move them into place in this order, then drop files of the golden before."""
    for name in names:
        flush_to_disk(_staged(folder, name))
    for name in names:
        _staged(folder, name).replace(folder / name)
    for name in FILES.values():
        if name not in names:
            (folder / name).unlink(missing_ok=True)
    flush_to_disk(folder)


def _model_problems(folder: Path, lock: GoldenLock, model: Model | None, digest: str | None) -> Iterator[Note]:
    if digest is not None:
        yield from model_problems(folder, lock, digest)
    if model is not None:
        yield from signature_problems(folder, lock, model)


def _load(folder: Path, lock: GoldenLock) -> Golden:
    tensors = read_tensors(folder, lock)
    if not tensors["output"]:
        raise BadGolden(noted(GoldenCode.GOLDEN_NO_OUTPUT, folder=str(folder)))
    # Outputs first: a model may have no inputs, and then nothing else bounds how many samples are claimed.
    outputs = unpack(tensors["output"], lock.samples, "output")
    return Golden(
        lock=lock,
        inputs=unpack(tensors["input"], lock.samples, "input"),
        outputs=outputs,
        labels=tensors["label"],
    )


def read_tensors(folder: Path, lock: GoldenLock) -> dict[str, dict[str, Array]]:
    """By role, as they are stored."""
    tensors: dict[str, dict[str, Array]] = {role: {} for role in FILES}
    for file in lock.files:
        role = next(role for role, name in FILES.items() if name == file.path)
        listed = {tensor.name: (tensor.role, tensor.dtype, tensor.shape) for tensor in file.tensors}
        with TensorFile(folder / file.path) as opened:
            stored = {name: (role, what.dtype, what.shape) for name, what in opened.tensors.items()}
            tensors[role] = {name: opened.read(name) for name in listed if name in stored}
        if listed != stored:
            raise BadGolden(noted(GoldenCode.GOLDEN_OTHER_TENSORS, file=str(folder / file.path)))
    return tensors
