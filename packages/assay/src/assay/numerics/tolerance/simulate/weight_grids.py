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


def spreads_on_grid(graph: Graph, weights: Mapping[str, Tensor], levels: int) -> dict[str, Tensor]:
    """The standard deviation of each stored weight of a product: a step of its channel's grid, uniformly."""
    found = {}
    for node in graph.producers.values():
        for at in WEIGHTS.get(node.op_type, ()):
            if at < len(node.input) and (name := node.input[at]) in graph.weights and weights[name].ndim > 1:
                found[name] = _spread(weights[name], _axis(node, at), levels)
    return found


def _axis(node: NodeProto, at: int) -> int | None:
    """Of the output channels of a weight. Where the record does not say it the whole weight has one scale."""
    channels = record_of(node.op_type).channels
    attributes = {one.name: one.i for one in node.attribute}
    return None if channels is None else channels(at, lambda name: attributes.get(name, 0))


def _spread(weight: Tensor, axis: int | None, levels: int) -> Tensor:
    others = None if axis is None else tuple(one for one in range(weight.ndim) if one != axis % weight.ndim)
    largest = np.max(np.abs(weight), axis=others, keepdims=True, initial=0.0)
    spread: Tensor = np.broadcast_to(largest / (levels * math.sqrt(12.0)), weight.shape).astype(weight.dtype)
    return spread


VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Transpose", "Unsqueeze"})
"""Operators that give the same numbers in another order or shape: of a stored weight they are folded before it is put on a grid."""


def with_stored_constants(model: ModelProto) -> ModelProto:
    """The same, each value of a Constant node an initializer, as some exporters write weights, and each view of one: a head that is
    tied to an embedding is its transpose."""
    found = ModelProto()
    found.CopyFrom(model)
    constants = [node for node in found.graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"]
    for node in constants:
        tensor = numpy_helper.from_array(numpy_helper.to_array(node.attribute[0].t), node.output[0])
        found.graph.initializer.append(tensor)
        found.graph.node.remove(node)
    _fold_views(found)
    return found


def _fold_views(model: ModelProto) -> None:
    stored = {one.name for one in model.graph.initializer}
    answers = {one.name for one in model.graph.output}
    views = []
    for node in model.graph.node:
        is_view = node.op_type in VIEWS and not node.domain and stored.issuperset(filter(None, node.input))
        if is_view and answers.isdisjoint(node.output):
            views.append(node)
            stored |= set(node.output)
    if not views:
        return
    part = ModelProto()
    part.CopyFrom(model)
    for field in ("node", "input", "output"):
        part.graph.ClearField(field)
    part.graph.node.extend(views)
    names = [name for node in views for name in node.output]
    part.graph.output.extend(ValueInfoProto(name=name) for name in names)
    for name, value in zip(names, Evaluator(part).evaluate({}), strict=True):
        model.graph.initializer.append(numpy_helper.from_array(value, name))
    for node in views:
        model.graph.node.remove(node)
