"""Weights that a backend stores on a grid of few bits by itself: where they are in a graph, and how far that moves them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from onnx import ModelProto, NodeProto, numpy_helper

from assay.numerics.operators.index import record_of
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


def with_stored_constants(model: ModelProto) -> ModelProto:
    """The same, each value of a Constant node an initializer: some exporters write weights so."""
    found = ModelProto()
    found.CopyFrom(model)
    constants = [node for node in found.graph.node if node.op_type == "Constant" and node.attribute[0].name == "value"]
    for node in constants:
        tensor = numpy_helper.from_array(numpy_helper.to_array(node.attribute[0].t), node.output[0])
        found.graph.initializer.append(tensor)
        found.graph.node.remove(node)
    return found
