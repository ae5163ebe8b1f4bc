"""Whole answers replaced, exchanged or lost: what a gate that compares nothing lets through."""

from __future__ import annotations

from collections.abc import Iterable

from onnx import NodeProto, TensorProto

from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator

_NUMBERS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


def _place(graph: Graph, node: NodeProto) -> int:
    return next(place for place, name in enumerate(node.output) if name in graph.outputs)


def _answers(graph: Graph) -> Iterable[NodeProto]:
    """Nodes that compute a float output of the graph."""
    for node in graph.nodes:
        answers = any(name in graph.outputs for name in node.output)
        if answers and graph.dtype(node.output[_place(graph, node)]) in _NUMBERS:
            yield node


def _softmaxes(graph: Graph) -> Iterable[NodeProto]:
    return graph.open_to("softmax-zeros")


def _times(graph: Graph, node: NodeProto, factor: float) -> None:
    place = _place(graph, node) if any(name in graph.outputs for name in node.output) else 0
    chain = graph.after(node, place)
    chain.done(chain.add("Mul", [chain.start, graph.scalar(factor, chain.start)]))


def _zeros(graph: Graph, node: NodeProto, distance: float) -> None:
    _times(graph, node, 0.0)


def _double(graph: Graph, node: NodeProto, distance: float) -> None:
    _times(graph, node, distance)


def _plus(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node, _place(graph, node))
    chain.done(chain.add("Add", [chain.start, graph.scalar(distance, chain.start)]))


def _with_more_outputs(graph: Graph) -> Iterable[NodeProto]:
    if len(graph.outputs) > 1:
        for node in graph.nodes:
            if any(name in graph.outputs for name in node.output):
                yield node


def _lose(graph: Graph, node: NodeProto, distance: float) -> None:
    name = node.output[_place(graph, node)]
    outputs = graph.model.graph.output
    kept = [value for value in outputs if value.name != name]
    del outputs[:]
    outputs.extend(kept)


def _twins(graph: Graph) -> Iterable[NodeProto]:
    """Nodes whose output of the graph could be taken for another of the same type and shape."""
    for node in graph.nodes:
        if any(name in graph.outputs for name in node.output) and _twin(graph, node) is not None:
            yield node


def _twin(graph: Graph, node: NodeProto) -> NodeProto | None:
    name = node.output[_place(graph, node)]
    for other in graph.outputs[graph.outputs.index(name) + 1 :]:
        if graph.dtype(other) == graph.dtype(name) and graph.shape(other) == graph.shape(name):
            producer = next((candidate for candidate in graph.nodes if other in candidate.output), None)
            if producer is not None:
                return producer
    return None


def _exchange(graph: Graph, node: NodeProto, distance: float) -> None:
    """The two answers under each other's name; whoever reads them inside of the graph still gets the right one."""
    other = _twin(graph, node)
    assert other is not None
    here = node.output[_place(graph, node)]
    there = next(n for n in other.output if n in graph.outputs and n != here and graph.shape(n) == graph.shape(here))
    hidden = {name: graph.fresh("hidden") for name in (here, there)}
    for reader in graph.nodes:
        for names in (reader.input, reader.output):
            for place, name in enumerate(names):
                if name in hidden:
                    names[place] = hidden[name]
    for name, source in ((here, hidden[there]), (there, hidden[here])):
        identity = graph.model.graph.node.add()
        identity.op_type = "Identity"
        identity.input.append(source)
        identity.output.append(name)


OPERATORS = (
    MutationOperator("softmax-zeros", "a softmax never written", _softmaxes, _zeros),
    MutationOperator("zero-output", "an output never written", _answers, _zeros),
    MutationOperator("scaled-output", "an output scaled: cosine does not see it", _answers, _double, 2.0,
             "the factor"),
    MutationOperator("shifted-output", "a constant added to an output", _answers, _plus, 0.09,
             "the constant"),
    MutationOperator("missing-output", "an output lost", _with_more_outputs, _lose),
    MutationOperator("exchange-outputs", "two outputs under each other's name", _twins,
             _exchange),
)  # fmt: skip
