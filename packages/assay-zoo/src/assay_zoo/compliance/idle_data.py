"""Bytes of a model from which no output follows, in whatever form it holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from assay.models.examination.functions import functions_of
from assay.models.examination.walk import Scope, scopes, signature_of, subgraphs

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto

IDLE_BYTES = 2048
"""In all: statistics and scales that an exporter leaves behind."""
_NOTES_BYTES = 8192
"""In all: what a model says of itself."""
_NOTE_BYTES = 65536
"""Of one node, tensor or value: an exporter writes there from which lines of a program it comes."""
_NAME_LETTERS = 2048
"""Of one name: an exporter writes a path of modules there."""


def idle_data(model: ModelProto) -> list[tuple[str, int]]:
    """Names and bytes: tensors and operators that nobody reads, functions that nobody calls, what is there to train, notes."""
    everything = scopes(model)
    named = {name for scope in everything for node in scope.graph.node for name in node.input}
    named |= {value.name for scope in everything for value in scope.graph.output}
    idle = [item for scope in everything for item in _of_scope(scope, model.graph, named)]
    called = {signature_of(node) for scope in everything for node in scope.graph.node}
    unused = [function for signature, function in functions_of(model).items() if signature not in called]
    idle += [(function.name, sum(map(_of_node, function.node))) for function in unused]
    idle += [("training_info", training.ByteSize()) for training in model.training_info]
    notes = list(_notes(model, everything))
    return [*idle, *(notes if sum(size for _, size in notes) > _NOTES_BYTES else [])]


def _of_scope(scope: Scope, main: GraphProto, named: set[str]) -> Iterator[tuple[str, int]]:
    """Of the main graph, what no output follows from; elsewhere, what nothing names."""
    graph = scope.graph
    read = _read_for(graph) if graph is main else named
    yield from ((tensor.name, _bytes(tensor)) for tensor in graph.initializer if tensor.name not in read)
    for sparse in graph.sparse_initializer:
        if sparse.values.name not in read:
            yield sparse.values.name, _bytes(sparse.values) + _bytes(sparse.indices)
    for node in graph.node:
        if read.isdisjoint(node.output):
            yield next(iter(node.output), node.name), _of_node(node)


def _of_node(node: NodeProto) -> int:
    tensors = [attribute.t for attribute in node.attribute if attribute.HasField("t")]
    return sum(int(attribute.ByteSize()) for attribute in node.attribute) + sum(
        _bytes(tensor) - int(tensor.ByteSize()) for tensor in tensors
    )


def _bytes(tensor: TensorProto) -> int:
    """Also of one whose data lie in another file."""
    return int(max(tensor.ByteSize(), prod(tensor.dims)))


def _notes(model: ModelProto, everything: Sequence[Scope]) -> Iterator[tuple[str, int]]:
    """What is written beside the work. Of the model and its graphs all counts, of their parts what is longer than a note."""
    yield "model", _note(model)
    for function in model.functions:
        yield function.name, _note(function)
    for scope in everything:
        if scope.function is None or not scope.root:
            yield scope.graph.name, _note(scope.graph)
        for parts in (
            scope.graph.node,
            scope.graph.initializer,
            scope.graph.input,
            scope.graph.output,
            scope.graph.value_info,
        ):
            for part in parts:
                names = (part.name, *getattr(part, "output", ()))
                longer = sum(max(0, len(name) - _NAME_LETTERS) for name in names)
                yield part.name, max(0, _note(part) - _NOTE_BYTES) + longer


def _note(part: Any) -> int:
    return int(len(part.doc_string.encode()) + sum(entry.ByteSize() for entry in part.metadata_props))


def _read_for(graph: GraphProto) -> set[str]:
    """Names from which an output follows. All that stands in a subgraph counts as read."""
    read = {value.name for value in graph.output}
    for node in reversed(graph.node):
        if not read.isdisjoint(node.output):
            read.update(node.input)
            waiting = [body for _, body in subgraphs(node)]
            while waiting:
                body = waiting.pop()
                read.update(value.name for value in body.output)
                read.update(name for inner in body.node for name in inner.input)
                waiting += [below for inner in body.node for _, below in subgraphs(inner)]
    return read
