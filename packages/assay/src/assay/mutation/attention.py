"""Attention fused or taken apart: the scale of the scores, a softmax with too few bits, rotary halves."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator


def _softmaxes(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("coarse-softmax")


def _coarse(graph: Graph, node: NodeProto, distance: float) -> None:
    """The result rounded to a grid, as a table of the exponential would give it."""
    chain = graph.after(node)
    grid = graph.scalar(1 / distance, chain.start)
    chain.done(chain.add("Div", [chain.add("Round", [chain.add("Mul", [chain.start, grid])]), grid]))


def _scores(graph: Graph) -> Iterable[NodeProto]:
    """Fused attention, and products whose result goes to a softmax, directly or through a scale or a mask."""
    for node in graph.of("Attention"):
        if node.domain in ("", "ai.onnx"):
            yield node
    for node in graph.of("Softmax"):
        producer = graph.producer(node.input[0])
        for _ in range(3):
            if producer is None or producer.op_type == "MatMul":
                break
            computed = [name for name in producer.input if graph.value(name) is None]
            producer = graph.producer(computed[0]) if computed else None
        if producer is not None and producer.op_type == "MatMul" and graph.value(producer.input[1]) is None:
            yield producer


def _rescale(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.before(node, 0) if node.op_type == "Attention" else graph.after(node)
    chain.done(chain.add("Mul", [chain.start, graph.scalar(1 + distance, chain.start)]))


def _fused(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("causality") if node.domain in ("", "ai.onnx")]


def _other_causality(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "is_causal", 1 - graph.get(node, "is_causal", 0))


def _tables(graph: Graph) -> Iterable[NodeProto]:
    """Products with a constant table of more than one axis: rotary and positional embeddings."""
    for node in graph.open_to("shift-positions"):
        if _table_place(graph, node) is not None:
            yield node


def _table_place(graph: Graph, node: NodeProto) -> int | None:
    for place in (0, 1):
        value = graph.input_value(node, place)
        if value is not None and value.dtype.kind == "f" and sum(d > 1 for d in value.shape) >= 2:
            return place
    return None


def _shift_positions(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _table_place(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    axis = next(a for a, length in enumerate(value.shape) if length > 1)
    graph.replace_input(node, place, np.roll(value, 1, axis=axis))


OPERATORS = (
    MutationOperator("coarse-softmax", "a softmax from a table with too few entries", _softmaxes, _coarse, 2.0**-10,
             "step of the table"),
    MutationOperator("attention-scale", "the scale of the scores with too few digits",
             _scores, _rescale, 0.01, "relative error of the scale"),
    MutationOperator("causality", "a causal attention taken for a full one, or the reverse", _fused,
             _other_causality),
    MutationOperator("shift-positions", "an embedding of positions off by one", _tables,
             _shift_positions),
)  # fmt: skip
