"""A model and its stored numbers apart: several evaluators of one model share what it weighs."""

from __future__ import annotations

from onnx import ModelProto, numpy_helper
from onnx.external_data_helper import uses_external_data

from assay.ports import Tensor


def without_weights(proto: ModelProto) -> tuple[ModelProto, dict[str, Tensor]]:
    """A copy of the graph without its dense initializers, and these, in the types that they have; those whose data is
    not loaded stay in the graph."""
    light = ModelProto(ir_version=proto.ir_version)
    light.opset_import.extend(proto.opset_import)
    light.functions.extend(proto.functions)
    graph, given = light.graph, proto.graph
    graph.name = given.name
    graph.node.extend(given.node)
    graph.input.extend(given.input)
    graph.output.extend(given.output)
    graph.value_info.extend(given.value_info)
    graph.sparse_initializer.extend(given.sparse_initializer)
    weights = {}
    for one in given.initializer:
        if uses_external_data(one):
            graph.initializer.append(one)
        else:
            weights[one.name] = numpy_helper.to_array(one)
    return light, weights
