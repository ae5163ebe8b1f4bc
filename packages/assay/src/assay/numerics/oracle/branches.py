"""Branches of If: which values they give, what decides whether they are taken, and which an evaluation took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from onnx import AttributeProto, GraphProto, NodeProto

from assay.numerics.oracle.hooks import Call, Hook, Values

_SIZES = ("Shape", "Size")


@dataclass(frozen=True)
class Branch:
    """`kind` is then or else. `values` are the names of what its operators give, those of bodies inside too; two branches that share
    all of them cannot be told apart. `inputs` are those of the graph whose values decide, `by_sizes`: open sizes of inputs do, too."""

    node: str
    kind: str
    values: frozenset[str]
    inputs: frozenset[str] = field(default=frozenset())
    by_sizes: bool = False


class TakenBranches(Hook):
    """Names of all values that an evaluation gave."""

    def __init__(self) -> None:
        self.met: set[str] = set()

    def answer(self, call: Call, results: Values) -> Values:
        self.met.update(call.outputs)
        return results


def branches_of(graph: GraphProto) -> tuple[Branch, ...]:
    """All that depend on an input; those of a constant condition are decided once and for all."""
    stored = {tensor.name for tensor in graph.initializer}
    input_names = {value.name for value in graph.input} - stored
    dims = (dim for value in graph.input if value.name in input_names for dim in value.type.tensor_type.shape.dim)
    are_open = any(not dim.HasField("dim_value") for dim in dims)
    sources = dict(_sources(graph))
    branches = []
    for node in _nodes(graph):
        if node.op_type != "If":
            continue
        inputs, by_sizes = _deciding(node.input[0], sources, input_names)
        by_sizes = by_sizes and are_open
        for attribute in node.attribute:
            values = frozenset(name for inner in _nodes(attribute.g) for name in inner.output if name)
            if values and (inputs or by_sizes):
                kind = attribute.name.removesuffix("_branch")
                branches.append(Branch(node.name or node.output[0], kind, values, inputs, by_sizes))
    return tuple(branches)


def _sources(graph: GraphProto) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """By value the operator that gives it, and what that reads; what a body is given comes from its node."""
    for node in graph.node:
        bodies = list(_bodies(node))
        reads = (*node.input, *(name for body in bodies for name in _reads(body)))
        yield from ((name, (node.op_type, reads)) for name in node.output if name)
        for body in bodies:
            yield from ((value.name, (node.op_type, tuple(node.input))) for value in body.input)
            yield from _sources(body)


def _reads(graph: GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield from node.input
        for body in _bodies(node):
            yield from _reads(body)


def _deciding(
    name: str, sources: Mapping[str, tuple[str, tuple[str, ...]]], given: set[str]
) -> tuple[frozenset[str], bool]:
    """Inputs whose values reach this one, and whether sizes do."""
    seen, todo, inputs, by_sizes = {""}, [name], set(), False
    while todo:
        tensor_name = todo.pop()
        if tensor_name in seen:
            continue
        seen.add(tensor_name)
        if tensor_name in given:
            inputs.add(tensor_name)
        operator, reads = sources.get(tensor_name, ("", ()))
        by_sizes = by_sizes or operator in _SIZES
        todo += () if operator in _SIZES else reads
    return frozenset(inputs), by_sizes


def _bodies(node: NodeProto) -> Iterator[GraphProto]:
    return (attribute.g for attribute in node.attribute if attribute.type == AttributeProto.GRAPH)


def _nodes(graph: GraphProto) -> Iterator[NodeProto]:
    for node in graph.node:
        yield node
        for body in _bodies(node):
            yield from _nodes(body)
