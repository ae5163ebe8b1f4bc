"""Arithmetic on shapes: ONNX operators on small numpy arrays whose elements may be torch.SymInt."""

from __future__ import annotations

import operator as python
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.errors import Lowering
from assay.onnx_to_torch.dtypes import Array, torch_dtype
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import host_operator
from assay.onnx_to_torch.values import Constant


@host_operator("Shape")
def shape(node: Node, value: Any) -> Any:
    dimensions = _dimensions(value)
    if dimensions is None:
        return None
    start, end = node.get("start", 0), node.get("end", len(dimensions))
    return (_array(dimensions[start:end]),)


@host_operator("Size")
def size(node: Node, value: Any) -> Any:
    dimensions = _dimensions(value)
    if dimensions is None:
        return None
    product: Any = 1
    for dimension in dimensions:
        product = product * dimension
    return (_array([product]).reshape(()),)


def _dimensions(value: Any) -> list[Any] | None:
    value = value.numbers if isinstance(value, Constant) else value
    return list(value.shape) if isinstance(value, torch.Tensor | np.ndarray) else None


def _array(elements: list[Any]) -> Array:
    """int64, or object where a number is symbolic."""
    if all(isinstance(element, int) for element in elements):
        return np.array(elements, np.int64)
    array = np.empty(len(elements), object)
    array[:] = elements
    return array


def _settled(array: Array) -> Array:
    """Back to int64 once nothing in it is symbolic any more."""
    if array.dtype == object and all(isinstance(element, int | np.integer) for element in array.flat):
        return array.astype(np.int64)
    return array


def _arithmetic(name: str, function: Callable[[Any, Any], Any]) -> None:
    def apply(node: Node, *arrays: Array) -> Any:
        result = arrays[0]
        for array in arrays[1:]:
            result = function(result, array)
        result = np.asarray(result)
        kind = arrays[0].dtype
        return (_settled(result) if result.dtype == object else result.astype(kind),)

    host_operator(name)(apply)


def _divide(a: Array, b: Array) -> Any:
    """Truncated for integers, as in ONNX; sizes are not negative."""
    if a.dtype == object or b.dtype == object:
        return a // b
    if np.any(np.asarray(b) == 0) and a.dtype.kind in "iu":
        raise Lowering(noted(ConversionCode.DIVIDED_BY_ZERO))
    if a.dtype.kind in "iu":
        quotient = np.abs(a.astype(np.int64)) // np.abs(b.astype(np.int64))
        return np.sign(a.astype(np.int64)) * np.sign(b.astype(np.int64)) * quotient
    with np.errstate(all="ignore"):
        return a / b


for _name, _function in {"Add": python.add, "Sub": python.sub, "Mul": python.mul, "Div": _divide}.items():
    _arithmetic(_name, _function)


@host_operator("Mod")
def mod(node: Node, a: Array, b: Array) -> Any:
    if node.get("fmod", 0) or a.dtype.kind == "f":
        return None
    return (_settled(np.asarray(a % b)),)


@host_operator("Min", "Max")
def extreme(node: Node, *arrays: Array) -> Any:
    if any(array.dtype == object for array in arrays):
        return None
    function = np.minimum if node.operator == "Min" else np.maximum
    result = arrays[0]
    for array in arrays[1:]:
        result = function(result, array)
    return (np.asarray(result),)


@host_operator("Neg", "Sqrt", "Floor", "Ceil", "Not")
def elementwise(node: Node, x: Array) -> Any:
    function: Any = {
        "Neg": np.negative,
        "Sqrt": np.sqrt,
        "Floor": np.floor,
        "Ceil": np.ceil,
        "Not": np.logical_not,
    }[node.operator]
    return None if x.dtype == object and node.operator != "Neg" else (np.asarray(function(x)),)


@host_operator("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
def compare(node: Node, a: Array, b: Array) -> Any:
    functions: dict[str, Any] = {
        "Equal": python.eq,
        "Less": python.lt,
        "LessOrEqual": python.le,
        "Greater": python.gt,
        "GreaterOrEqual": python.ge,
    }
    return (np.asarray(functions[node.operator](a, b), dtype=bool),)


@host_operator("And", "Or")
def combine(node: Node, a: Array, b: Array) -> Any:
    return (np.asarray(np.logical_and(a, b) if node.operator == "And" else np.logical_or(a, b)),)


@host_operator("Where")
def where(node: Node, condition: Array, a: Array, b: Array) -> Any:
    return (_settled(np.where(condition, a, b)),)


@host_operator("Cast")
def cast(node: Node, x: Array) -> Any:
    from onnx import TensorProto

    to = node.get("to")
    if x.dtype == object:
        return (x,) if to in (TensorProto.INT64, TensorProto.INT32) else None
    kinds: dict[int, Any] = {
        TensorProto.INT64: np.int64,
        TensorProto.INT32: np.int32,
        TensorProto.FLOAT: np.float32,
        TensorProto.BOOL: np.bool_,
    }
    if to not in kinds or x.dtype.kind not in "iufb" or (x.dtype.kind == "f" and not np.isfinite(x).all()):
        return None
    return (x.astype(kinds[to]),)


@host_operator("Identity")
def identity(node: Node, x: Array) -> Any:
    return (x,)


@host_operator("Gather")
def gather(node: Node, x: Array, indices: Array) -> Any:
    if indices.dtype == object:
        return None
    return (_settled(np.asarray(np.take(x, indices, axis=node.get("axis", 0)))),)


@host_operator("Concat")
def concat(node: Node, *arrays: Array) -> Any:
    return (_settled(np.concatenate(arrays, axis=node.get("axis", 0))),)


@host_operator("Unsqueeze")
def unsqueeze(node: Node, x: Array, axes: Array | None = None) -> Any:
    where = node.get("axes") if axes is None else [int(axis) for axis in axes.reshape(-1)]
    return (np.expand_dims(x, tuple(where)),)


@host_operator("Squeeze")
def squeeze(node: Node, x: Array, axes: Array | None = None) -> Any:
    where = node.get("axes") if axes is None else [int(axis) for axis in axes.reshape(-1)]
    return (np.squeeze(x, None if where is None else tuple(where)),)


@host_operator("Reshape")
def reshape(node: Node, x: Array, shape: Array) -> Any:
    if shape.dtype == object or (shape == 0).any():
        return None
    return (x.reshape([int(length) for length in shape]),)


@host_operator("Transpose")
def transpose(node: Node, x: Array) -> Any:
    """With Reshape and Slice around it: how exporters turn the pads of torch, last axis first, into those of Pad."""
    return (np.transpose(x, node.get("perm")),)


@host_operator("Slice")
def slice_(
    node: Node,
    x: Array,
    starts: Array | None = None,
    ends: Array | None = None,
    axes: Array | None = None,
    steps: Array | None = None,
) -> Any:
    if starts is None or ends is None or starts.dtype == object or ends.dtype == object:
        return None
    count = starts.size
    where = range(count) if axes is None else [int(stated_axis) for stated_axis in axes]
    stride = [1] * count if steps is None else [int(stated_step) for stated_step in steps]
    index: list[slice] = [slice(None)] * x.ndim
    for axis, start, end, step in zip(where, starts.tolist(), ends.tolist(), stride, strict=True):
        stop: int | None = end
        if step < 0 and end < -x.shape[axis]:
            stop = None
        index[axis] = slice(start, stop, step)
    return (_settled(x[tuple(index)]),)


@host_operator("ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin")
def reduce(node: Node, x: Array, axes: Array | None = None) -> Any:
    where = node.get("axes") if axes is None else [int(stated_axis) for stated_axis in axes.reshape(-1)]
    if where is not None and len(where) == 0:
        where = None
        if node.get("noop_with_empty_axes", 0):
            return (x,)
    if x.dtype == object and node.operator in ("ReduceMax", "ReduceMin"):
        return None
    function: Any = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}[
        node.operator
    ]
    if x.size == 0 and node.operator in ("ReduceMax", "ReduceMin"):
        return None
    axis = None if where is None else tuple(where)
    result = np.asarray(function(x, axis=axis, keepdims=bool(node.get("keepdims", 1))))
    return (_settled(result) if result.dtype == object else result.astype(x.dtype),)


@host_operator("Range")
def range_(node: Node, start: Array, limit: Array, delta: Array) -> Any:
    if any(array.dtype != np.int64 for array in (start, limit, delta)):
        return None
    result = np.arange(int(start.item()), int(limit.item()), int(delta.item()), dtype=np.int64)
    return (result,) if result.size <= 64 else None


@host_operator("ConstantOfShape")
def constant_of_shape(node: Node, shape: Array) -> Any:
    """Small integers only: they are mostly on their way to a shape."""
    from onnx import numpy_helper

    if shape.dtype == object or shape.size > 1 or int(np.prod(shape)) > 64:
        return None
    fill = node.get("value")
    value = np.zeros(1, np.float32) if fill is None else numpy_helper.to_array(fill)
    if value.dtype.kind not in "ib":
        return None
    torch_dtype(value.dtype.name)
    return (np.full([int(length) for length in shape], value.reshape(-1)[0], value.dtype),)
