"""Floating operations of one call, counted from the shapes of an ONNX graph. A multiplication and an addition are two."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.numerics.load_onnx import load_onnx

if TYPE_CHECKING:
    from assay.numerics.operators.record import OnnxOperator

Shape = tuple[int, ...]
MOST_BYTES = 1 << 28
"""Larger models are not looked at: shape inference would take longer than the measurement."""


def flops_of(model: Path, inputs: Mapping[str, Shape]) -> tuple[float, int]:
    """Floating operations, and the bytes of the model's own tensors; (0, 0) for what is not an ONNX file, and no
    operations where a shape is not known.

    Products count their terms (Gemm, MatMul, Conv, ConvTranspose); every other node counts one operation for each element
    of the larger of what it takes and gives, and nodes that only move or rename values count none.
    """
    if model.suffix != ".onnx" or model.stat().st_size > MOST_BYTES:
        return 0.0, 0

    from assay.numerics.operators.index import record_of

    graph_model = load_onnx(model)
    weights = sum(_bytes(tensor) for tensor in graph_model.graph.initializer)
    shapes = _shapes(graph_model, inputs)
    total = 0.0
    for node in graph_model.graph.node:
        named = {name: shapes.get(name) for name in (*node.input, *node.output) if name}
        known = record_of(node.op_type)
        if known.free:
            continue
        if any(shape is None for shape in named.values()):
            return 0.0, weights
        total += _count(node, known, {name: shape for name, shape in named.items() if shape is not None})
    return total, weights


def _count(node: Any, known: OnnxOperator, shapes: Mapping[str, Shape]) -> float:
    input_shapes = [shapes[name] for name in node.input if name]
    made = shapes[node.output[0]]
    if known.flops is not None and input_shapes[0]:
        return known.flops(input_shapes, made, partial(_attribute, node))
    return float(max(math.prod(shape) for shape in (*input_shapes, made)))


def _attribute(node: Any, name: str) -> int:
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), 0)


def _shapes(model: Any, inputs: Mapping[str, Shape]) -> dict[str, Shape | None]:
    import onnx

    for value in model.graph.input:
        if value.name in inputs and value.type.HasField("tensor_type"):
            for dim, size in zip(value.type.tensor_type.shape.dim, inputs[value.name], strict=False):
                dim.dim_value = size
    try:
        graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    except onnx.shape_inference.InferenceError:
        graph = model.graph
    known: dict[str, Shape | None] = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    for info in (*graph.input, *graph.value_info, *graph.output):
        dims = info.type.tensor_type.shape.dim
        whole = info.type.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in dims)
        known[info.name] = tuple(dim.dim_value for dim in dims) if whole else None
    return known


def _bytes(tensor: Any) -> int:
    import onnx

    return int(onnx.numpy_helper.to_array(tensor).nbytes) if not tensor.external_data else 0
