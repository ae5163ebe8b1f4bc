"""A model and its stored numbers apart: several evaluators of one model share what it weighs."""

from __future__ import annotations

from onnx import ModelProto, helper, numpy_helper
from onnx.external_data_helper import uses_external_data

from assay.ports import Tensor


def split_weights(proto: ModelProto) -> tuple[ModelProto, dict[str, Tensor]]:
    """A copy of the graph without its dense initializers, and these, in the types that they have; those whose data is
    not loaded stay in the graph."""
    light = ModelProto(ir_version=proto.ir_version)
    light.opset_import.extend(proto.opset_import)
    light.functions.extend(proto.functions)
    graph, full = light.graph, proto.graph
    graph.name = full.name
    graph.node.extend(full.node)
    graph.input.extend(full.input)
    graph.output.extend(full.output)
    graph.value_info.extend(full.value_info)
    graph.sparse_initializer.extend(full.sparse_initializer)
    weights = {}
    for tensor in full.initializer:
        if uses_external_data(tensor):
            graph.initializer.append(tensor)
        else:
            weights[tensor.name] = numpy_helper.to_array(tensor)
    return light, weights


def lightened(proto: ModelProto) -> ModelProto:
    """A copy in which large initializers are inputs: inference needs their types, not their values."""
    light = ModelProto()
    light.ir_version = proto.ir_version
    light.opset_import.extend(proto.opset_import)
    light.functions.extend(proto.functions)
    graph = light.graph
    graph.name = proto.graph.name
    graph.node.extend(proto.graph.node)
    graph.output.extend(proto.graph.output)
    graph.value_info.extend(proto.graph.value_info)
    names = {value.name for value in proto.graph.input}
    graph.input.extend(proto.graph.input)
    for tensor in proto.graph.initializer:
        if len(tensor.dims) <= 1 and sum(tensor.dims) <= 64:
            graph.initializer.append(tensor)
        elif tensor.name not in names:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return light
