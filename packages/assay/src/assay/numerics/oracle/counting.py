"""Range (ONNX 11, 27): how many numbers it gives follows from its bounds as the model holds them.

A graph in double computes bounds more exactly than the model does: the 1.0000000149 of ten times a tenth is 1 in single precision,
and counts one number less. The quotient itself is of double, as in ONNX Runtime, torch and numpy.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, helper
from onnx.reference.op_run import OpRun

from assay.numerics.oracle.split_weights import lightened
from assay.ports import Tensor

BOUNDS_TYPE = "bounds_type"
"""An attribute of ours: the real type that the model declares for the bounds."""
_NARROW = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16)
_COMPUTED = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}


class Range(OpRun):
    """start + i * delta for so many i as the quotient of limit - start and delta says."""

    op_domain = ""

    def _run(
        self, start: Tensor, limit: Tensor, delta: Tensor, stash_type: Any = None, bounds_type: Any = None
    ) -> tuple[Tensor]:
        dtype = start.dtype
        if dtype.kind in "iu":
            return (np.arange(start.item(), limit.item(), delta.item()).astype(dtype),)
        wide: Any = _COMPUTED[stash_type or TensorProto.FLOAT] if dtype.itemsize == 2 else dtype
        held = dtype if bounds_type is None else helper.tensor_dtype_to_np_dtype(bounds_type)
        first, last, step = (
            np.asarray(array).astype(held).astype(np.float64).item() for array in (start, limit, delta)
        )
        count = max(0, math.ceil((last - first) / step))
        start, delta = (np.asarray(array).astype(wide) for array in (start, delta))
        return ((start + np.arange(count).astype(wide) * delta).astype(dtype),)


def with_bounds_types(model: ModelProto) -> None:
    """Written into each Range of real numbers, in place, while the model still has its own types."""
    nodes = [node for node in _nodes(model.graph) if node.op_type == "Range" and node.domain in ("", "ai.onnx")]
    if not nodes:
        return
    types = _types(model)
    for node in nodes:
        known = next((types[name] for name in (*node.input, *node.output) if name in types), 0)
        if known in _NARROW and not any(attribute.name == BOUNDS_TYPE for attribute in node.attribute):
            node.attribute.append(helper.make_attribute(BOUNDS_TYPE, known))


def _types(model: ModelProto) -> dict[str, int]:
    light = lightened(model)
    with suppress(onnx.shape_inference.InferenceError, RuntimeError, ValueError):
        light = onnx.shape_inference.infer_shapes(light)
    types: dict[str, int] = {}
    for graph in _graphs(light.graph):
        types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
        for info in (*graph.input, *graph.value_info, *graph.output):
            if info.type.tensor_type.elem_type:
                types[info.name] = info.type.tensor_type.elem_type
    return types


def _graphs(graph: GraphProto) -> Iterator[GraphProto]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                yield from _graphs(attribute.g)


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    return (node for body in _graphs(graph) for node in body.node)
