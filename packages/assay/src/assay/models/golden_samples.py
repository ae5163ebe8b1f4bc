"""Samples in memory and tensors in a file: stacked where all samples are alike, one tensor per sample where not."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.core.dtype import dtype_name
from assay.core.golden import GoldenLock
from assay.core.note import noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.core.tensor_parts import whole_name
from assay.errors import BadGolden

Array = np.ndarray[Any, Any]
Sample = Mapping[str, Array]

_PER_SAMPLE = re.compile(r"(?P<name>.+)@(?P<index>[0-9]{5,})")


@dataclass(frozen=True)
class Golden:
    """Reference inputs and outputs, one dict per sample with the arrays exactly as the model sees them at batch 1.

    The first axis of each label is the sample.
    """

    lock: GoldenLock
    inputs: list[dict[str, Array]]
    outputs: list[dict[str, Array]]
    labels: dict[str, Array]

    def first(self, count: int) -> Golden:
        """The same with its first `count` samples only; there are never fewer of them than labels."""
        return (
            self
            if count >= len(self.inputs)
            else replace(self, inputs=self.inputs[:count], outputs=self.outputs[:count])
        )


def stored_name(name: str, index: int) -> str:
    """What one sample of a tensor is called in the file, where samples differ in shape or dtype."""
    return f"{name}@{index:05d}"


def model_name(stored: str) -> tuple[str, int | None]:
    """The tensor's name in the model, and the sample it belongs to (None: all samples, stacked on axis 0)."""
    match = _PER_SAMPLE.fullmatch(stored)
    return (match["name"], int(match["index"])) if match else (stored, None)


def pack(samples: Sequence[Sample], role: str, partial: Collection[str] = ()) -> dict[str, Array]:
    """Samples as the tensors of one file. Raises `BadGolden` where samples disagree about the names; only the parts of
    sequences, optionals and maps, and what is `partial`, may be in some samples alone."""
    names = list(dict.fromkeys(name for sample in samples for name in sample))
    for index, sample in enumerate(samples):
        odd = sorted((set(map(whole_name, sample)) ^ set(map(whole_name, samples[0]))) - set(partial))
        if odd:
            raise BadGolden(noted(GoldenCode.SAMPLES_OTHERWISE, sample=index, role=role, names=tuple(odd)))
    packed: dict[str, Array] = {}
    for name in names:
        if name == "__metadata__" or _PER_SAMPLE.fullmatch(name):
            raise BadGolden(noted(GoldenCode.NAME_NOT_STORED, role=role, name=name))
        arrays = {index: np.asarray(sample[name]) for index, sample in enumerate(samples) if name in sample}
        alike = len({(array.shape, dtype_name(array.dtype)) for array in arrays.values()}) == 1
        if alike and len(arrays) == len(samples):
            packed[name] = np.stack([_plain(array) for array in arrays.values()])
        else:
            packed.update((stored_name(name, index), array) for index, array in arrays.items())
    return packed


def unpack(tensors: Sample, samples: int, role: str, partial: Collection[str] = ()) -> list[dict[str, Array]]:
    """The inverse of `pack`. Raises `BadGolden` where a sample lacks a tensor or a stack has another count."""
    _check_count(tensors, samples, role, partial)
    unpacked: list[dict[str, Array]] = [{} for _ in range(samples)]
    for stored, array in tensors.items():
        name, index = model_name(stored)
        if index is not None:
            unpacked[index][name] = array
            continue
        for number, sample in enumerate(unpacked):
            sample[name] = array[number, ...]  # the ellipsis keeps an array where the sample is 0-d
    return unpacked


def _check_count(tensors: Sample, samples: int, role: str, partial: Collection[str]) -> None:
    """Before anything is made for each sample: how many there are is what a file claims."""
    indices: dict[str, set[int]] = {}
    for stored, array in tensors.items():
        name, index = model_name(stored)
        if index is not None:
            indices.setdefault(whole_name(name), set()).add(index)
            if index >= samples:
                raise BadGolden(noted(GoldenCode.OF_NO_SAMPLE, role=role, stored=stored, samples=samples))
        elif array.ndim == 0 or array.shape[0] != samples:
            raise BadGolden(
                noted(GoldenCode.SHAPE_FOR_SAMPLES, role=role, name=name, shape=array.shape, samples=samples)
            )
    stacked = {whole_name(name) for name, index in map(model_name, tensors) if index is None}
    for name, known in sorted(indices.items()):
        missing = next(index for index in range(len(known) + 1) if index not in known)
        if missing < samples and name not in stacked and name not in partial:
            raise BadGolden(noted(GoldenCode.MISSING_IN_SAMPLE, role=role, name=name, sample=missing))


def _plain(array: Array) -> Array:
    """Text as objects: numpy's fixed-width text types differ with the longest string."""
    return array.astype(object) if dtype_name(array.dtype) == "string" else array


def holds_nan(array: Array) -> bool:
    """Whether the dtype has NaN at all (numpy's isnan refuses text and the small integers)."""
    return dtype_name(array.dtype).startswith(("float", "bfloat", "complex"))


def stored_shapes(lock: GoldenLock) -> dict[str, tuple[int, ...]]:
    """The shape of each input of the first sample, without reading a tensor."""
    tensors = [tensor for file in lock.files for tensor in file.tensors if tensor.role == "input"]
    named = [(*model_name(tensor.name), tensor.shape) for tensor in tensors]
    return {name: tuple(shape[1:] if index is None else shape) for name, index, shape in reversed(named)}


def sample_shapes(lock: GoldenLock) -> list[dict[str, tuple[int, ...]]]:
    """The shapes of the inputs of every sample, without reading a tensor."""
    shapes: list[dict[str, tuple[int, ...]]] = [{} for _ in range(lock.samples)]
    tensors = [tensor for file in lock.files for tensor in file.tensors if tensor.role == "input"]
    for tensor in tensors:
        name, index = model_name(tensor.name)
        for place in range(lock.samples) if index is None else (index,):
            if place < lock.samples:
                shapes[place][name] = tuple(tensor.shape if index is not None else tensor.shape[1:])
    return shapes
