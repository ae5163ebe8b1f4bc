"""Quantization with a scale or zero point off by a step, taken per tensor, or overflowing the other way."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto, TensorProto

from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator

_RANGE: dict[int, tuple[int, int]] = {TensorProto.INT8: (-128, 127), TensorProto.UINT8: (0, 255),
          TensorProto.INT16: (-32768, 32767), TensorProto.UINT16: (0, 65535)}  # fmt: skip


def _scale_place(graph: Graph, node: NodeProto) -> int | None:
    return next((p for p in known(node).scales if graph.input_value(node, p) is not None), None)


def _per_channel(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("per-tensor-scale"):
        place = _scale_place(graph, node)
        value = graph.input_value(node, place) if place is not None else None
        if value is not None and value.size > 1 and np.unique(value).size > 1:
            yield node


def _per_tensor(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _scale_place(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    graph.replace_input(node, place, np.full_like(value, value.reshape(-1)[0]))


def _scaled(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("scale-step") if _scale_place(graph, node) is not None]


def _scale_step(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _scale_place(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    graph.replace_input(node, place, (value * (1 + distance)).astype(value.dtype))


def _zero_place(graph: Graph, node: NodeProto) -> int | None:
    return next((p for p in known(node).zero_points if graph.input_value(node, p) is not None), None)


def _zeroed(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("zero-point-step"):
        place = _zero_place(graph, node)
        value = graph.input_value(node, place) if place is not None else None
        if value is not None and value.dtype.kind in "iu":
            yield node


def _zero_step(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _zero_place(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    info = np.iinfo(value.dtype)
    wide = value.astype(np.int64)
    moved = np.where(wide + int(distance) <= info.max, wide + int(distance), wide - int(distance))
    graph.replace_input(node, place, np.clip(moved, info.min, info.max).astype(value.dtype))


def _quantizers(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("wrap-for-saturate"):
        value = graph.input_value(node, 1)
        if value is not None and value.size == 1 and graph.dtype(node.output[0]) in _RANGE:
            yield node


def _wrap(graph: Graph, node: NodeProto, distance: float) -> None:
    """round(x / scale) + zero, and then the low bits only, where the value should saturate."""
    low, high = _RANGE[graph.dtype(node.output[0])]
    x = node.input[0]
    chain = graph.before(node, 0)
    scaled = chain.add("Round", [chain.add("Div", [x, node.input[1]])])
    zero = graph.input_value(node, 2)
    offset = float(zero.reshape(-1)[0]) if zero is not None else 0.0
    raised = chain.add("Add", [scaled, graph.scalar(offset - low, x)])
    span = graph.scalar(float(high - low + 1), x)
    laps = chain.add("Floor", [chain.add("Div", [raised, span])])
    wrapped = chain.add("Sub", [raised, chain.add("Mul", [laps, span])])
    back = chain.add("Sub", [wrapped, graph.scalar(offset - low, x)])
    chain.done(chain.add("Mul", [back, node.input[1]]))


_WRAPPING = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16, TensorProto.INT32)


def _integer_sums(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("saturate-for-wrap") if graph.dtype(node.output[0]) in _WRAPPING]


def _saturate(graph: Graph, node: NodeProto, distance: float) -> None:
    """The sum in double, which holds it exactly, clipped, where integers wrap."""
    # Not in int64: ONNX Runtime 1.31 takes the smaller of two int64 by their low 32 bits.
    kind = graph.dtype(node.output[0])
    info = np.iinfo(graph.numpy_dtype(node.output[0]))
    for place in (0, 1):
        chain = graph.before(node, place)
        chain.done(chain.add("Cast", [chain.start], to=TensorProto.DOUBLE))
    chain = graph.after(node)
    low, high = (graph.constant(np.asarray(edge, np.float64)) for edge in (info.min, info.max))
    chain.done(chain.add("Cast", [chain.add("Clip", [chain.start, low, high])], to=kind))


def _wrapped_casts(graph: Graph) -> Iterable[NodeProto]:
    """Casts from one integer to a narrower one."""
    for node in graph.open_to("saturating-cast"):
        if graph.dtype(node.output[0]) in _RANGE and graph.dtype(node.input[0]) in (*_WRAPPING, TensorProto.INT64):
            yield node


def _saturating_cast(graph: Graph, node: NodeProto, distance: float) -> None:
    low, high = _RANGE[graph.dtype(node.output[0])]
    chain = graph.before(node, 0)
    bounds = [graph.scalar(edge, chain.start) for edge in (low, high)]
    chain.done(chain.add("Clip", [chain.start, *bounds]))


def _truncate(graph: Graph, node: NodeProto, distance: float) -> None:
    """round(x / scale) towards zero."""
    chain = graph.before(node, 0)
    scaled = chain.add("Div", [chain.start, node.input[1]])
    whole = chain.add("Mul", [chain.add("Floor", [chain.add("Abs", [scaled])]), chain.add("Sign", [scaled])])
    chain.done(chain.add("Mul", [whole, node.input[1]]))


OPERATORS = (
    MutationOperator("per-tensor-scale", "per-channel scales taken per tensor", _per_channel,
             _per_tensor),
    MutationOperator("scale-step", "a scale off by one step", _scaled, _scale_step, 1 / 127,
             "relative change of the scale"),
    MutationOperator("zero-point-step", "a zero point off by one step", _zeroed, _zero_step, 1.0, "steps"),
    MutationOperator("wrap-for-saturate", "overflow that wraps instead of saturating", _quantizers, _wrap),
    MutationOperator("truncate-for-round", "rounding towards zero instead of to nearest", _quantizers,
             _truncate),
    MutationOperator("saturate-for-wrap", "saturation where integers wrap", _integer_sums,
             _saturate),
    MutationOperator("saturating-cast", "saturation where a cast wraps", _wrapped_casts,
             _saturating_cast),
)  # fmt: skip
