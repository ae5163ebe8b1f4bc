"""Weights that a backend stores on a grid of few bits by itself: where they are in a graph, and how far that moves them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from onnx import ModelProto, NodeProto, ValueInfoProto, numpy_helper

from assay.numerics.operators.index import record_of
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.simulate.graph_study import WEIGHTS, Graph
from assay.ports import Tensor


def spreads_on_grid(graph: Graph, weights: Mapping[str, Tensor], levels: int, tables: int = 0) -> dict[str, Tensor]:
    """The standard deviation of each stored weight of a product: a step of its channel's grid, uniformly. With `tables` levels, that
    of each table whose rows are looked up, too: a step of the row's grid."""
    spreads = {}
    for node in graph.producers.values():
        for at in WEIGHTS.get(node.op_type, ()):
            if at < len(node.input) and (name := node.input[at]) in graph.weights and weights[name].ndim > 1:
                spreads[name] = _spread(weights[name], _axis(node, at), levels)
    if tables:
        for name in _looked_up(graph, weights).intersection((*graph.weights, *graph.others)):
            spread = _spread(weights[name], 0, tables)
            spreads[name] = np.maximum(spreads[name], spread) if name in spreads else spread
    return spreads


def _looked_up(graph: Graph, weights: Mapping[str, Tensor]) -> set[str]:
    """Tables, and no other tensors, that a Gather takes rows of by their numbers. One row that the model names itself is a slice."""
    gathers = [node for node in graph.producers.values() if node.op_type == "Gather" and not node.domain]
    axes = {id(node): next((attr.i for attr in node.attribute if attr.name == "axis"), 0) for node in gathers}
    return {
        node.input[0]
        for node in gathers
        if axes[id(node)] in (0, -2)
        and getattr(weights.get(node.input[0]), "ndim", 0) == 2
        and getattr(weights.get(node.input[1]), "ndim", 1) > 0
    }


def _axis(node: NodeProto, at: int) -> int | None:
    """Of the output channels of a weight. Where the record does not say it the whole weight has one scale."""
    channels = record_of(node.op_type).channels
    attributes = {attribute.name: attribute.i for attribute in node.attribute}
    return None if channels is None else channels(at, lambda name: attributes.get(name, 0))


def _spread(weight: Tensor, axis: int | None, levels: int) -> Tensor:
    others = None if axis is None else tuple(other for other in range(weight.ndim) if other != axis % weight.ndim)
    largest = np.max(np.abs(weight), axis=others, keepdims=True, initial=0.0)
    spread: Tensor = np.broadcast_to(largest / (levels * math.sqrt(12.0)), weight.shape).astype(weight.dtype)
    return spread


FOLDED = frozenset({"Cast", "DequantizeLinear", "Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that give the numbers of a stored weight in another order, shape or type, or off the grid of its file: they are folded
before it is put on the grid of the engine."""


def with_stored_constants(model: ModelProto) -> ModelProto:
    """The same, each value of a Constant node an initializer, as some exporters write weights, and what is folded of one: a head that
    is tied to an embedding is its transpose, and weights that are stored in eight bits are numbers to an engine that has its own grid."""
    folded = ModelProto()
    folded.CopyFrom(model)
    constants = [node for node in folded.graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"]
    for node in constants:
        tensor = numpy_helper.from_array(numpy_helper.to_array(node.attribute[0].t), node.output[0])
        folded.graph.initializer.append(tensor)
        folded.graph.node.remove(node)
    _fold(folded)
    return folded


def _fold(model: ModelProto) -> None:
    stored = {tensor.name for tensor in model.graph.initializer}
    answers = {info.name for info in model.graph.output}
    folded = []
    for node in model.graph.node:
        is_stored = node.op_type in FOLDED and not node.domain and stored.issuperset(filter(None, node.input))
        if is_stored and answers.isdisjoint(node.output):
            folded.append(node)
            stored |= set(node.output)
    if not folded:
        return
    part = ModelProto()
    part.CopyFrom(model)
    for field in ("node", "input", "output"):
        part.graph.ClearField(field)
    part.graph.node.extend(folded)
    names = [name for node in folded for name in node.output]
    part.graph.output.extend(ValueInfoProto(name=name) for name in names)
    for name, value in zip(names, Evaluator(part).evaluate({}), strict=True):
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    for node in folded:
        model.graph.node.remove(node)
