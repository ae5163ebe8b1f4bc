"""Weights that a backend stores on a grid of few bits by itself: where they are in a graph, and how far that moves them."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from onnx import ModelProto, NodeProto, numpy_helper

from assay.numerics.tolerance.simulate.graph_study import WEIGHTS, Graph
from assay.ports import Tensor

_CHANNELS = {"Conv": 0, "ConvTranspose": 1, "MatMul": -1, "LSTM": 1, "GRU": 1, "RNN": 1}
"""The axis of output channels of a weight; a Gemm says it. Of other products the whole weight has one scale."""


def spreads_on_grid(graph: Graph, weights: Mapping[str, Tensor], levels: int) -> dict[str, Tensor]:
    """The standard deviation of each stored weight of a product: a step of its channel's grid, uniformly."""
    found = {}
    for node in graph.producers.values():
        for at in WEIGHTS.get(node.op_type, ()):
            if at < len(node.input) and (name := node.input[at]) in graph.weights and weights[name].ndim > 1:
                found[name] = _spread(weights[name], _axis(node, at), levels)
    return found


def _axis(node: NodeProto, at: int) -> int | None:
    if node.op_type == "Gemm" and at == 1:
        return 0 if any(one.name == "transB" and one.i for one in node.attribute) else 1
    if node.op_type == "MatMul" and at == 0:
        return -2
    return _CHANNELS.get(node.op_type)


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
