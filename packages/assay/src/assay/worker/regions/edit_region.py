"""A small model made simpler: smaller sizes, plainer numbers. What it should give is evaluated again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.note import NoteCode, noted
from assay.core.region import RegionEdit
from assay.errors import Lowering
from assay.ports import Tensor
from assay.worker.describe_exception import reason_of
from assay.worker.regions.build_region import Region
from assay.worker.regions.value_files import evaluate

if TYPE_CHECKING:
    from onnx import ModelProto

_LIST = 16
"""Elements up to which a constant of whole numbers is taken for a list of sizes."""


def sizes_of(region: Region) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Every size above 1 of an axis of an input or a weight, and the names of inputs and real weights, largest first."""
    from onnx import numpy_helper

    arrays = dict(region.feeds)
    arrays |= {tensor.name: numpy_helper.to_array(tensor) for tensor in region.model.graph.initializer}
    real_or_large = [array for array in arrays.values() if not _is_list(array)]
    sizes = sorted({size for array in real_or_large for size in array.shape if size > 1}, reverse=True)
    real = [name for name, array in arrays.items() if array.dtype.kind == "f"]
    return tuple(sizes), tuple(sorted(real, key=lambda name: -arrays[name].size))


def edited(region: Region, edits: Sequence[RegionEdit]) -> tuple[Region, dict[str, Tensor]]:
    """The region after the edits, and its outputs in float64. Raises Lowering where the result is no valid model."""
    from onnx import ModelProto

    model = ModelProto()
    model.CopyFrom(region.model)
    feeds = dict(region.feeds)
    for edit in edits:
        if edit.kind == "size":
            _resize(model, feeds, edit.size, edit.to)
        else:
            _fill(model, feeds, edit.name, edit.fill)
    evaluated = _evaluated(model, feeds, region)
    windows = [replace(window, nodes=list(model.graph.node)) for window in region.windows]
    return Region(model, windows, feeds), evaluated


def _evaluated(model: ModelProto, feeds: dict[str, Tensor], region: Region) -> dict[str, Tensor]:
    names = [name for window in region.windows for name in window.outputs]
    try:
        values = evaluate(model, feeds, names)
    except Lowering:
        raise
    except Exception as error:
        raise Lowering(noted(NoteCode.SIMPLIFIED_NOT_EVALUATED, error=reason_of(error))) from error
    if any(name not in values or not values[name].size for name in names):
        raise Lowering(noted(NoteCode.SIMPLIFIED_EMPTY))
    for value in model.graph.output:
        _set_shape(value, values[value.name].shape)
    for value in model.graph.input:
        _set_shape(value, feeds[value.name].shape)
    return values


def _set_shape(value: Any, shape: Sequence[int]) -> None:
    from onnx import helper

    value.CopyFrom(helper.make_tensor_value_info(value.name, value.type.tensor_type.elem_type, shape))


def _resize(model: ModelProto, feeds: dict[str, Tensor], size: int, to: int) -> None:
    """Every axis of that size, and that number in short lists of whole numbers (shapes, lists of sizes)."""
    from onnx import numpy_helper

    for name, array in feeds.items():
        feeds[name] = _cut(array, size, to)
    for tensor in model.graph.initializer:
        array = numpy_helper.to_array(tensor)
        changed = np.where(array == size, to, array).astype(array.dtype) if _is_list(array) else _cut(array, size, to)
        if changed.shape != array.shape or not np.array_equal(changed, array):
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(changed).reshape(changed.shape), tensor.name))
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name in ("split",):
                attribute.ints[:] = [to if number == size else number for number in attribute.ints]


def _is_list(array: Tensor) -> bool:
    """Whether it is taken for sizes, axes or pads."""
    return array.dtype.kind == "i" and array.ndim == 1 and array.size <= _LIST


def _cut(array: Tensor, size: int, to: int) -> Tensor:
    for axis in range(array.ndim):
        if array.shape[axis] == size:
            array = np.take(array, range(to), axis=axis) if to < size else array
    return array


def _fill(model: ModelProto, feeds: dict[str, Tensor], name: str, fill: str) -> None:
    from onnx import numpy_helper

    if name in feeds:
        feeds[name] = filled(feeds[name], fill)
        return
    for tensor in model.graph.initializer:
        if tensor.name == name:
            before = numpy_helper.to_array(tensor)
            after = filled(before, fill)
            if before.dtype.kind == "f" and np.all(before > 0) and not np.all(after > 0):
                raise Lowering(noted(NoteCode.FILL_NOT_POSITIVE, value=name, fill=fill))
            tensor.CopyFrom(numpy_helper.from_array(after, name))


def filled(array: Tensor, fill: str) -> Tensor:
    """By rule: ones, minus_ones, small whole numbers, rounded to one decimal."""
    match fill:
        case "ones":
            return np.full(array.shape, 1, array.dtype)
        case "minus_ones":
            return np.full(array.shape, -1, array.dtype)
        case "counting":
            return (np.arange(array.size).reshape(array.shape) % 7 - 3).astype(array.dtype)
        case "whole":
            return np.rint(array).astype(array.dtype)
        case "decimal":
            return np.round(array.astype(np.float64), 1).astype(array.dtype)
    raise ValueError(fill)
