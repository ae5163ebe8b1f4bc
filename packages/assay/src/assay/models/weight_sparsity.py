"""How many elements of a model's weights are zero, and which weights have the 2:4 pattern that hardware skips."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.engine_info import Sparsity, WeightSparsity
from assay.errors import Lowering
from assay.numerics.dense_weights import densify

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

MOST_BYTES = 1 << 31
"""Larger models are not read a second time for it."""
MOST_WEIGHTS = 64
"""That are named one by one, those with the largest share of zeros."""
_TERMS, _KEPT = 4, 2
Array = np.ndarray[Any, Any]

_OPERANDS: dict[str, tuple[tuple[int, int, int], ...]] = {
    "Conv": ((1, 1, -1),),
    "ConvInteger": ((1, 1, 3),),
    "QLinearConv": ((3, 1, 5),),
    "ConvTranspose": ((1, 0, -1),),
    "MatMul": ((0, -1, -1), (1, -2, -1)),
    "MatMulInteger": ((0, -1, 2), (1, -2, 3)),
    "QLinearMatMul": ((0, -1, 2), (3, -2, 5)),
    "Gemm": ((0, -1, -1), (1, -2, -1)),
    "RNN": ((1, 2, -1), (2, 2, -1)),
    "GRU": ((1, 2, -1), (2, 2, -1)),
    "LSTM": ((1, 2, -1), (2, 2, -1)),
}
"""Operators that multiply with weights: the input, the axis whose products are summed, and the input that is its zero point."""

_ALONG = {1: 0, -1: -2, -2: -1}
"""By the summed axis of such an operand, the axis along which its zero points lie."""


def weight_sparsity(model: Path) -> Sparsity | None:
    """Of the stored weights that an ONNX model multiplies with, quantized ones by their zero point; None for what is no ONNX file, is
    larger than 2 GiB, or multiplies with no stored weight. A sparse weight counts as the dense one that it stands for.

    2:4: of every four terms of a sum that follow one another at least two are zero (TensorRT Developer Guide, "Sparsity"; Mishra et
    al., arXiv 2104.08378). The terms of a convolution follow one another along its input channels.
    """
    if model.suffix != ".onnx" or model.stat().st_size > MOST_BYTES:
        return None
    import onnx

    loaded = onnx.load(model, load_external_data=False)
    if _external_bytes(loaded.graph) > MOST_BYTES:
        return None
    try:
        densify(loaded, str(model.parent))
    except Lowering:
        return None
    weights_by_name = {weight.name: weight for weight in _weights(loaded, model.parent)}
    if not weights_by_name:
        return None
    zeros = sorted(
        (weight for weight in weights_by_name.values() if weight.zeros),
        key=lambda weight: (-weight.zeros / weight.elements, weight.name),
    )
    return Sparsity(
        sum(weight.elements for weight in weights_by_name.values()),
        sum(weight.zeros for weight in weights_by_name.values()),
        sum(weight.elements for weight in weights_by_name.values() if weight.two_of_four),
        tuple(zeros[:MOST_WEIGHTS]),
    )


def two_of_four(zero: Array, axis: int) -> bool:
    """Whether of every four neighbours along the axis at least two are true. False where its length is no multiple of four."""
    rows = np.moveaxis(zero, axis, -1)
    if not rows.size or rows.shape[-1] % _TERMS:
        return False
    fours = rows.reshape(*rows.shape[:-1], -1, _TERMS)
    return bool((np.count_nonzero(fours, axis=-1) >= _TERMS - _KEPT).all())


def _external_bytes(graph: GraphProto) -> int:
    from onnx.helper import tensor_dtype_to_np_dtype

    return sum(
        math.prod(tensor.dims) * tensor_dtype_to_np_dtype(tensor.data_type).itemsize
        for tensor in graph.initializer
        if tensor.external_data
    )


def _weights(model: ModelProto, folder: Path) -> Iterator[WeightSparsity]:
    """Of the main graph, each once; bodies of loops, branches and functions are not looked into."""
    graph = model.graph
    stored = {tensor.name: tensor for tensor in graph.initializer}
    makers = {name: node for node in graph.node for name in node.output if name}
    stored |= {name: value for name, node in makers.items() if (value := _constant(node)) is not None}
    done: set[str] = set()
    for node in graph.node:
        for place, axis, zero_point in _OPERANDS.get(node.op_type, ()) if node.domain in ("", "ai.onnx") else ():
            if place >= len(node.input):
                continue
            name, summed, point = _origin(node.input[place], _transposed(node, place, axis), makers)
            if name not in stored or name in done or len(stored[name].dims) < 2:
                continue
            done.add(name)
            own = node.input[zero_point] if 0 <= zero_point < len(node.input) else ""
            yield _sparsity(stored[name], summed, _point(point or (own, _ALONG.get(axis, 0)), stored, folder), folder)


def _sparsity(tensor: TensorProto, axis: int, point: tuple[Array, int] | None, folder: Path) -> WeightSparsity:
    values = _array(tensor, folder)
    zero = values == _beside(point, values) if point is not None else values == 0
    pattern = two_of_four(zero, axis) if -values.ndim <= axis < values.ndim else False
    return WeightSparsity(tensor.name, int(values.size), int(np.count_nonzero(zero)), pattern)


def _transposed(node: NodeProto, place: int, axis: int) -> int:
    """A Gemm may take its operand turned."""
    flags = {attribute.name: attribute.i for attribute in node.attribute} if node.op_type == "Gemm" else {}
    return -3 - axis if flags.get("transB" if place else "transA") else axis


def _origin(name: str, axis: int, makers: dict[str, NodeProto]) -> tuple[str, int, tuple[str, int] | None]:
    """The stored tensor behind casts, (de)quantizations and turns, the axis there, and its zero point with that one's axis."""
    point: tuple[str, int] | None = None
    while (node := makers.get(name)) is not None and node.input:
        if node.op_type == "Transpose":
            order = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "perm"), None)
            axis = order[axis] if order is not None else -1 - axis
        elif node.op_type == "DequantizeLinear":
            along = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 1)
            point = (node.input[2] if len(node.input) > 2 else "", along)
        elif node.op_type == "QuantizeLinear":
            point = None
        elif node.op_type not in ("Identity", "Cast"):
            break
        name = node.input[0]
    return name, axis, point


def _point(named: tuple[str, int], stored: dict[str, TensorProto], folder: Path) -> tuple[Array, int] | None:
    name, axis = named
    return (_array(stored[name], folder), axis) if name in stored else None


def _beside(point: tuple[Array, int] | None, values: Array) -> Array:
    """A zero point in the shape that goes with the values: one for all, one along an axis, or as it is where it fits."""
    assert point is not None
    array, axis = point
    if array.size == 1:
        return array.reshape(())
    if array.ndim == 1 and array.size == values.shape[axis]:
        return array.reshape([-1 if place == axis % values.ndim else 1 for place in range(values.ndim)])
    if array.ndim == values.ndim:  # quantized in blocks
        for place, (size, blocks) in enumerate(zip(values.shape, array.shape, strict=True)):
            array = np.repeat(array, -(-size // blocks), axis=place)
        return array[tuple(slice(size) for size in values.shape)]
    return np.zeros((), array.dtype)


def _constant(node: NodeProto) -> TensorProto | None:
    if node.op_type != "Constant":
        return None
    return next((attribute.t for attribute in node.attribute if attribute.name == "value"), None)


def _array(tensor: TensorProto, folder: Path) -> Array:
    from onnx import numpy_helper

    return numpy_helper.to_array(tensor, str(folder))
