"""What is looked at before any rule reads a model: names that are text, and not more parts than any model has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

MOST_PARTS = 2_000_000
"""Nodes with their inputs, outputs and attributes, weights and values of a model, subgraphs and functions included."""


def parts_of(model: ModelProto) -> int:
    """How many there are; counting ends where they are too many."""
    count = sum(
        len(function_proto.node) + len(function_proto.attribute) + len(function_proto.attribute_proto)
        for function_proto in model.functions
    )
    count += len(model.metadata_props) + len(model.opset_import)
    for graph in _graphs(model):
        count += len(graph.initializer) + len(graph.input) + len(graph.output) + len(graph.value_info)
        for node in graph.node:
            count += 1 + len(node.input) + len(node.output) + len(node.attribute)
        if count > MOST_PARTS:
            break
    for function in model.functions:
        count += sum(len(node.input) + len(node.output) + len(node.attribute) for node in function.node)
    return count


def unreadable_name(model: ModelProto) -> bool:
    """Whether some name is not UTF-8: the protobuf library gives its bytes then."""
    return any(not isinstance(name, str) for name in _names(model))


def _names(model: ModelProto) -> Iterator[object]:
    for imported in model.opset_import:
        yield imported.domain
    for entry in model.metadata_props:
        yield entry.key
    for function in model.functions:
        yield from (function.name, function.domain, function.overload)
        yield from (*function.input, *function.output, *function.attribute)
        yield from (imported.domain for imported in function.opset_import)
        for node in function.node:
            yield from _of_node(node)
    for graph in _graphs(model):
        yield graph.name
        for value in (*graph.input, *graph.output, *graph.value_info):
            yield value.name
            yield from (dim.dim_param for dim in value.type.tensor_type.shape.dim)
        for tensor in graph.initializer:
            yield tensor.name
            yield from (text for entry in tensor.external_data for text in (entry.key, entry.value))
        yield from (sparse.values.name for sparse in graph.sparse_initializer)
        for node in graph.node:
            yield from _of_node(node)


def _of_node(node: NodeProto) -> Iterator[object]:
    yield from (node.name, node.op_type, node.domain, node.overload, *node.input, *node.output)
    for attribute in node.attribute:
        yield from (attribute.name, attribute.ref_attr_name)


def _graphs(model: ModelProto) -> Iterator[GraphProto]:
    """The main graph, and all graphs in attributes, those of functions and of training too."""
    training = [graph for info in model.training_info for graph in (info.initialization, info.algorithm)]
    graphs = [model.graph, *training]
    graphs += [graph for function in model.functions for node in function.node for graph in _inside(node)]
    for graph in graphs:  # grows while it is walked
        yield graph
        for node in graph.node:
            graphs += _inside(node)


def _inside(node: NodeProto) -> list[GraphProto]:
    own = [attribute.g for attribute in node.attribute if attribute.HasField("g")]
    return own + [graph for attribute in node.attribute for graph in attribute.graphs]
