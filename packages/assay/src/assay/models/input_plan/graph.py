"""A graph as plain Python, its large weights left out: what shapes and ranges are derived from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.numerics.shapes.values import LARGEST_CONSTANT, Node, Value, of_data

if TYPE_CHECKING:
    from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto


@dataclass(frozen=True)
class Graph:
    """`inputs` are those that a caller feeds, with their dimensions (None: rank unknown) and element types."""

    nodes: tuple[Node, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: dict[str, Value]
    declared: dict[str, tuple[int | str, ...] | None]
    elements: dict[str, int]
    opset: int = field(default=0)


def read_graph(model: ModelProto) -> Graph:
    """The graph with its functions inlined. Raises what onnx raises for functions that cannot be."""
    opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 1)
    if model.functions:
        from onnx import inliner

        bare = _without_weights(model)
        inlined = inliner.inline_local_functions(bare)
        graph = _graph(inlined.graph, opset)
        return Graph(**{**graph.__dict__, "constants": graph.constants | _constants(model.graph)})
    return _graph(model.graph, opset)


def _without_weights(model: ModelProto) -> ModelProto:
    """Initializers become inputs: inlining copies the whole message."""
    from onnx import ModelProto

    bare = ModelProto(ir_version=model.ir_version, opset_import=model.opset_import, functions=model.functions)
    bare.graph.name = model.graph.name
    bare.graph.node.extend(model.graph.node)
    bare.graph.input.extend(model.graph.input)
    bare.graph.output.extend(model.graph.output)
    return bare


def _graph(graph: GraphProto, opset: int) -> Graph:
    constants = _constants(graph)
    nodes = []
    for node in graph.node:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            constants[node.output[0]] = _constant_node(node)
        else:
            nodes.append(_node(node, opset))
    inputs = [value for value in graph.input if value.name not in constants]
    return Graph(
        nodes=tuple(nodes),
        inputs=tuple(value.name for value in inputs),
        outputs=tuple(value.name for value in graph.output),
        constants=constants,
        declared={value.name: _declared(value) for value in inputs},
        elements={value.name: value.type.tensor_type.elem_type for value in inputs},
        opset=opset,
    )


def _constants(graph: GraphProto) -> dict[str, Value]:
    constants = {tensor.name: constant(tensor) for tensor in graph.initializer}
    constants |= {sparse.values.name: Value(tuple(sparse.dims)) for sparse in graph.sparse_initializer}
    return constants


def constant(tensor: TensorProto, most: int | None = LARGEST_CONSTANT) -> Value:
    """Shape, and the values where they are no more than so many."""
    shape = tuple(tensor.dims)
    if (most is not None and prod(shape) > most) or tensor.external_data:
        return Value(shape)
    from onnx import numpy_helper

    try:
        return Value(shape, numpy_helper.to_array(tensor))
    except (ValueError, TypeError):
        return Value(shape)


def _constant_node(node: NodeProto) -> Value:
    (attribute,) = node.attribute
    match attribute.name:
        case "value":
            return constant(attribute.t)
        case "sparse_value":
            return Value(tuple(attribute.sparse_tensor.dims))
        case "value_int" | "value_float":
            return of_data(np.asarray(attribute.i if attribute.name.endswith("int") else np.float32(attribute.f)))
        case "value_ints":
            return of_data(np.asarray(list(attribute.ints), np.int64))
        case "value_floats":
            return of_data(np.asarray(list(attribute.floats), np.float32))
        case "value_string":
            return of_data(np.asarray(attribute.s.decode("utf-8", "replace"), object))
        case _:
            return of_data(np.asarray([encoded.decode("utf-8", "replace") for encoded in attribute.strings], object))


def _node(node: NodeProto, opset: int) -> Node:
    domain = "" if node.domain == "ai.onnx" else node.domain
    attributes = {attribute.name: _attribute(attribute, opset) for attribute in node.attribute}
    return Node(node.op_type, domain, node.name, tuple(node.input), tuple(node.output), attributes)


def _attribute(attribute: AttributeProto, opset: int) -> Any:
    match attribute.type:
        case attribute.FLOAT:
            return attribute.f
        case attribute.INT:
            return attribute.i
        case attribute.STRING:
            return attribute.s.decode("utf-8", "replace")
        case attribute.TENSOR:
            return constant(attribute.t, most=None)  # of trees all are looked at
        case attribute.GRAPH:
            return _graph(attribute.g, opset)
        case attribute.FLOATS:
            return list(attribute.floats)
        case attribute.INTS:
            return list(attribute.ints)
        case attribute.STRINGS:
            return [encoded.decode("utf-8", "replace") for encoded in attribute.strings]
        case _:
            return None


def _declared(value: Any) -> tuple[int | str, ...] | None:
    if not value.type.tensor_type.HasField("shape"):
        return None
    return tuple(
        dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else dim.dim_param or "?"
        for dim in value.type.tensor_type.shape.dim
    )


def subgraphs(node: Node) -> Iterable[Graph]:
    """Those of its attributes that are graphs."""
    return (attribute for attribute in node.attributes.values() if isinstance(attribute, Graph))
