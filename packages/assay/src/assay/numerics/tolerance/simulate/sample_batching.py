"""Samples evaluated together: where a model treats every row of its batch alike, one evaluation does for many samples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from onnx import ModelProto

from assay.ports import Tensor, Tensors

MOST = 64
"""Samples of one evaluation."""
MASKED = 1e6
"""What is so many times larger than all but a twentieth of an output was put there, and not computed as the rest was."""


def may_join(proto: ModelProto, inputs: Sequence[Tensors]) -> bool:
    """Whether samples can be stacked along the first axis at all: a free first dimension everywhere, and equal shapes."""
    constants = {tensor.name for tensor in proto.graph.initializer}
    for info in proto.graph.input:
        if info.name in constants:
            continue
        dims = info.type.tensor_type.shape.dim
        if not dims or dims[0].HasField("dim_value"):
            return False
    shapes = {
        tuple((name, array.shape, array.dtype.str) for name, array in sorted(sample.items())) for sample in inputs
    }
    rows = {array.shape[0] for sample in inputs for array in sample.values() if array.ndim}
    return len(shapes) == 1 and len(rows) == 1 and len(inputs) > 1


def group_by_shape(inputs: Sequence[Tensors]) -> list[list[int]]:
    """The positions of the samples, those of one shape together, in the order of their first."""
    groups: dict[object, list[int]] = {}
    for place, sample in enumerate(inputs):
        key = tuple((name, array.shape, array.dtype.str) for name, array in sorted(sample.items()))
        groups.setdefault(key, []).append(place)
    return list(groups.values())


def join(inputs: Sequence[Tensors]) -> dict[str, Tensor]:
    """One feed of all samples."""
    return {name: np.concatenate([sample[name] for sample in inputs]) for name in inputs[0]}


def split(values: Tensors, count: int, single: Tensors) -> list[dict[str, Tensor]] | None:
    """The values of each sample again; None where one does not have as many rows as `count` of `single` have."""
    parts: list[dict[str, Tensor]] = [{} for _ in range(count)]
    for name, value in values.items():
        rows = single[name].shape[0] if name in single and single[name].ndim else 0
        if not rows or value.ndim == 0 or value.shape != (count * rows, *single[name].shape[1:]):
            return None
        for number, part in enumerate(parts):
            part[name] = value[number * rows : (number + 1) * rows]
    return parts


def same(joined: Tensors, alone: Tensors) -> bool:
    """Whether a row says the same in company as alone: up to the order of double-precision sums."""
    for name, value in alone.items():
        other = joined[name]
        if value.dtype.kind != "f":
            if not np.array_equal(other, value):
                return False
            continue
        if not np.allclose(other, value, rtol=1e-9, atol=1e-12 * _level(value), equal_nan=True):
            return False
    return True


def _level(value: Tensor) -> float:
    """The largest magnitude of the numbers of an output; a mask of -1e30 is none of them, beside which all else would be nothing."""
    magnitudes = np.abs(value[np.isfinite(value) & (value != 0)])
    if not magnitudes.size:
        return 0.0
    return float(min(np.max(magnitudes), MASKED * np.quantile(magnitudes, 0.05)))
