"""Recurrent layers with gates, biases or directions mixed up."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator


def _gated(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("exchange-gates"):
        if graph.input_value(node, 1) is not None and graph.input_value(node, 2) is not None:
            yield node


def _exchange_gates(graph: Graph, node: NodeProto, distance: float) -> None:
    order = known(node).gate_order
    gates = len(order)
    for place in (1, 2, 3):
        value = graph.input_value(node, place)
        if value is None:
            continue
        blocks = gates * 2 if place == 3 else gates
        parts = np.split(value, blocks, axis=1)
        moved = [parts[base + gate] for base in range(0, blocks, gates) for gate in order]
        graph.replace_input(node, place, np.concatenate(moved, axis=1))


def _half_biased(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("drop-recurrent-bias"):
        bias = graph.input_value(node, 3)
        if bias is not None and np.any(bias[:, bias.shape[1] // 2 :]):
            yield node


def _drop_recurrent_bias(graph: Graph, node: NodeProto, distance: float) -> None:
    bias = graph.input_value(node, 3)
    assert bias is not None
    half = bias.copy()
    half[:, half.shape[1] // 2 :] = 0
    graph.replace_input(node, 3, half)


def _grus(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("gru-reset")


def _other_reset(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "linear_before_reset", 1 - graph.get(node, "linear_before_reset", 0))


def _directed(graph: Graph) -> Iterable[NodeProto]:
    return [
        node
        for node in graph.open_to("wrong-direction")
        if graph.get(node, "direction", b"forward") != b"bidirectional"
    ]


def _turn(graph: Graph, node: NodeProto, distance: float) -> None:
    forward = graph.get(node, "direction", b"forward") == b"forward"
    graph.set(node, "direction", "reverse" if forward else "forward")


def _started(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("forget-initial-state") if len(node.input) > 5 and node.input[5]]


def _forget_start(graph: Graph, node: NodeProto, distance: float) -> None:
    for place in range(5, min(len(node.input), 7)):
        node.input[place] = ""


OPERATORS = (
    MutationOperator("exchange-gates", "gates in another framework's order", _gated, _exchange_gates),
    MutationOperator("drop-recurrent-bias", "the recurrent half of a bias lost", _half_biased,
             _drop_recurrent_bias),
    MutationOperator("gru-reset", "reset before instead of after the product", _grus, _other_reset),
    MutationOperator("wrong-direction", "a sequence read from its end", _directed, _turn),
    MutationOperator("forget-initial-state", "the initial state ignored", _started, _forget_start),
)  # fmt: skip
