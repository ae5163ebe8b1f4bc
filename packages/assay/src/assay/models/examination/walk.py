"""Every graph of a model once: the main graph, the bodies of functions, training graphs, and all subgraphs inside them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.core.model_part import ModelPart, PartKind

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto

NAN_IS_A_WORD = {"ai.onnx.ml"}
"""Domains whose attributes mean something by NaN: a missing value, the end of a set."""
Signature = tuple[str, str, str]
"""Domain ("" for ai.onnx), name and overload of an operator or function."""


@dataclass(frozen=True)
class Scope:
    """A graph and where it is: `where` is the part around its nodes (None for the main graph); `opsets` is what its nodes go by."""

    graph: GraphProto
    where: ModelPart | None
    opsets: dict[str, int]
    function: FunctionProto | None = None
    outer: Scope | None = None
    root: bool = True
    """False for a subgraph, which sees the names around it."""
    holder: int = -1
    """The number of the node that holds a subgraph."""


def domain_of(domain: str) -> str:
    """The domain's canonical name: ai.onnx is written "" as well."""
    return "" if domain == "ai.onnx" else domain


def signature_of(node: NodeProto) -> Signature:
    """What the node calls."""
    return domain_of(node.domain), node.op_type, node.overload


def node_part(node: NodeProto, index: int, where: ModelPart | None = None) -> ModelPart:
    """A node by its name, or by its number where it has none."""
    return ModelPart(PartKind.NODE, node.name, -1 if node.name else index, node.op_type, where)


def scopes(model: ModelProto) -> list[Scope]:
    """Outer graphs before their subgraphs."""
    opsets = _opsets(model.opset_import)
    scopes_so_far = [Scope(model.graph, None, opsets)]
    for function in model.functions:
        where = ModelPart(PartKind.FUNCTION, function.name)
        scopes_so_far.append(Scope(as_graph(function), where, _opsets(function.opset_import), function))
    for number, training in enumerate(model.training_info):
        scopes_so_far.append(Scope(training.initialization, ModelPart(PartKind.INITIALIZATION, number=number), opsets))
        # The algorithm sees the values of the inference graph, whose continuation it is.
        where = ModelPart(PartKind.ALGORITHM, number=number)
        scopes_so_far.append(Scope(training.algorithm, where, opsets, None, scopes_so_far[0]))
    for scope in scopes_so_far:  # grows while it is walked
        scopes_so_far += inside(scope)
    return scopes_so_far


def inside(scope: Scope) -> Iterator[Scope]:
    """The subgraphs of its nodes, one level."""
    for index, node in enumerate(scope.graph.node):
        for attribute, graph in subgraphs(node):
            where = ModelPart(PartKind.GRAPH, attribute, inside=node_part(node, index, scope.where))
            yield Scope(graph, where, scope.opsets, scope.function, scope, root=False, holder=index)


def subgraphs(node: NodeProto) -> Iterator[tuple[str, GraphProto]]:
    """The graphs that a node holds, each with the name of its attribute."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.name, attribute.g
        for graph in attribute.graphs:
            yield attribute.name, graph


def as_graph(function: FunctionProto) -> GraphProto:
    """The body of a function in the shape of a graph, its inputs and outputs without types."""
    from onnx import GraphProto, ValueInfoProto

    return GraphProto(
        name=function.name,
        node=function.node,
        input=[ValueInfoProto(name=name) for name in function.input],
        output=[ValueInfoProto(name=name) for name in function.output],
        value_info=function.value_info,
    )


def given_in(graph: GraphProto) -> set[str]:
    """Names that have a value before any node runs."""
    return (
        {value.name for value in graph.input}
        | {tensor.name for tensor in graph.initializer}
        | {sparse.values.name for sparse in graph.sparse_initializer}
    )


def _opsets(imports: object) -> dict[str, int]:
    return {domain_of(entry.domain): entry.version for entry in imports}  # type: ignore[attr-defined]
