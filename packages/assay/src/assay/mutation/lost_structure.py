"""What a graph rewriting loses or mixes up: residuals, masks, elements at the edges, whole outputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.axes import int64
from assay.mutation.coarse_arithmetic import float_nodes
from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator


def _sums(graph: Graph) -> Iterable[NodeProto]:
    """Sums of two computed tensors of one shape, one of them with nodes of its own: residuals."""
    for node in graph.of("Add", "Sum"):
        computed = [name for name in node.input if graph.value(name) is None]
        shapes = {graph.shape(name) for name in computed}
        if len(computed) == len(node.input) == 2 and len(shapes) == 1 and computed[0] != computed[1]:
            yield node


def _drop_residual(graph: Graph, node: NodeProto, distance: float) -> None:
    """The branch that was computed earlier is the residual: it is the one that gets lost."""
    order = {name: place for place, other in enumerate(graph.nodes) for name in other.output}
    keep = max(node.input, key=lambda name: order.get(name, -1))
    graph.replace(node, "Identity", [keep])


def _masks(graph: Graph) -> Iterable[NodeProto]:
    """What is added to, or chosen in, scores right before a softmax; or the mask of a fused attention."""
    for node in graph.of("Softmax"):
        producer = graph.producer(node.input[0])
        if producer is not None and producer.op_type in ("Add", "Where") and _scores(graph, producer) is not None:
            yield producer
    for node in graph.of("Attention"):
        if node.domain in ("", "ai.onnx") and len(node.input) > 3 and node.input[3]:
            yield node


def _scores(graph: Graph, node: NodeProto) -> int | None:
    """Which input holds the scores: of Where the branch that is no constant, of Add the one that comes from a product."""
    places = (1, 2) if node.op_type == "Where" else (0, 1)
    computed = [place for place in places if graph.value(node.input[place]) is None]
    if len(computed) == 1:
        return computed[0]
    for place in computed:
        producer = graph.producer(node.input[place])
        if producer is not None and producer.op_type in ("MatMul", "Mul", "Div", "Einsum"):
            return place
    return None


def _ignore_mask(graph: Graph, node: NodeProto, distance: float) -> None:
    if node.op_type == "Attention":
        node.input[3] = ""
        return
    place = _scores(graph, node)
    assert place is not None
    graph.replace(node, "Identity", [node.input[place]])


def _ranked(graph: Graph, least: int = 1) -> list[NodeProto]:
    return [node for node in float_nodes(graph) if len(graph.shape(node.output[0]) or ()) >= least]


def _batched(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in _ranked(graph, 2) if graph.opset >= 13]


def _stale(graph: Graph, node: NodeProto, distance: float) -> None:
    """The last item of a batch is that of the first: with a batch of one it is the same function."""
    chain = graph.after(node)
    zero, one, last, end = (int64(chain, [n]) for n in (0, 1, -1, np.iinfo(np.int64).max))
    del end
    rest = chain.add("Slice", [chain.start, zero, last, zero])
    first = chain.add("Slice", [chain.start, zero, one, zero])
    chain.done(chain.add("Concat", [rest, first], axis=0))


def _channelled(graph: Graph) -> Iterable[NodeProto]:
    for node in _batched(graph):
        shape = graph.shape(node.output[0]) or ()
        if shape[1] != 1 and node.op_type not in ("LSTM", "GRU", "RNN"):
            yield node


def _zero_channel(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node)
    rank = len(graph.shape(chain.start) or ())
    zero_channel = [0] * (2 * rank)
    zero_channel[rank + 1] = 1
    kept = chain.add("Slice", [chain.start, int64(chain, [0]), int64(chain, [-1]), int64(chain, [1])])
    chain.done(chain.add("Pad", [kept, int64(chain, zero_channel), graph.scalar(0.0, chain.start)]))


def _tailed(graph: Graph) -> Iterable[NodeProto]:
    for node in _batched(graph):
        if (graph.shape(node.output[0]) or (0,))[-1] != 1:
            yield node


def _tail(graph: Graph, node: NodeProto, distance: float) -> None:
    """The last elements of a row hold what lay in memory before."""
    chain = graph.after(node)
    rank = len(graph.shape(chain.start) or ())
    pads = [0] * (2 * rank)
    pads[-1] = 1
    kept = chain.add("Slice", [chain.start, int64(chain, [0]), int64(chain, [-1]), int64(chain, [rank - 1])])
    chain.done(chain.add("Pad", [kept, int64(chain, pads), graph.scalar(distance, chain.start)]))


def _located(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in _ranked(graph) if graph.opset >= 11]


def _one_element(graph: Graph, node: NodeProto, distance: float) -> None:
    chain = graph.after(node)
    shape = graph.shape(chain.start) or ()
    middle = [0 if axis == 0 and len(shape) > 1 else (length or 1) // 2 for axis, length in enumerate(shape)]
    where = graph.constant(np.asarray([middle], np.int64))
    value = chain.add("GatherND", [chain.start, where])
    wrong = chain.add("Mul", [value, graph.scalar(1 + distance, chain.start)])
    chain.done(chain.add("ScatterND", [chain.start, where, wrong]))


def _conditions(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("invert-condition"):
        if graph.value(node.input[0]) is None:
            yield node


def _invert(graph: Graph, node: NodeProto, distance: float) -> None:
    node.input[1], node.input[2] = node.input[2], node.input[1]


def _exchangeable(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("exchange-comparison") if graph.opset >= 12]


def _exchange(graph: Graph, node: NodeProto, distance: float) -> None:
    node.op_type = known(node).mistaken_for


def _operands(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("swap-operands"):
        shapes = {graph.shape(name) for name in node.input}
        if node.input[0] != node.input[1] and (len(shapes) == 1 or any(s == () for s in shapes)):
            yield node


def _swap_operands(graph: Graph, node: NodeProto, distance: float) -> None:
    node.input[0], node.input[1] = node.input[1], node.input[0]


OPERATORS = (
    MutationOperator("drop-residual", "a residual lost in a fusion", _sums, _drop_residual),
    MutationOperator("ignore-mask", "the mask of an attention ignored", _masks, _ignore_mask),
    MutationOperator("stale-batch", "the last item of a batch left over from another", _batched,
             _stale),
    MutationOperator("zero-last-channel", "the last channel not computed", _channelled,
             _zero_channel),
    MutationOperator("uninitialised-tail", "the last elements of a row never written", _tailed,
             _tail, 1e-3, "what lay in memory"),
    MutationOperator("one-element", "one element of a tensor wrong", _located, _one_element, 0.01,
             "relative error of the element"),
    MutationOperator("invert-condition", "the two branches of a choice exchanged", _conditions, _invert),
    MutationOperator("exchange-comparison", "the neighbouring operator: strict for not strict, max for min, ceil for floor",
             _exchangeable, _exchange),
    MutationOperator("swap-operands", "operands exchanged", _operands, _swap_operands),
)  # fmt: skip
