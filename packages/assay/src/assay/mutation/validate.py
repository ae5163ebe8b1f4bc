"""Whether what a mutation left is still a model: a mutant that no compiler would accept proves nothing."""

from __future__ import annotations

from onnx import ModelProto

_LARGE_BYTES = 1 << 16
"""Weights from here on are checked by type and shape alone."""


def why_invalid(model: ModelProto) -> str:
    """One line, "" for a valid model."""
    import onnx

    light = _light(model)
    try:
        onnx.checker.check_model(light)
        onnx.shape_inference.infer_shapes(light, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return " ".join(str(error).split())[:300]
    return ""


def _light(model: ModelProto) -> ModelProto:
    """The same graph, its large weights turned into inputs: checking costs what the graph costs, not what it weighs."""
    from onnx import helper

    light = ModelProto()
    light.ir_version = model.ir_version
    light.opset_import.extend(model.opset_import)
    graph = light.graph
    graph.name = model.graph.name
    graph.node.extend(model.graph.node)
    graph.input.extend(model.graph.input)
    graph.output.extend(model.graph.output)
    graph.sparse_initializer.extend(model.graph.sparse_initializer)
    input_names = {value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) < _LARGE_BYTES:
            graph.initializer.append(tensor)
        elif tensor.name not in input_names:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    return light
