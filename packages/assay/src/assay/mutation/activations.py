"""Activation functions taken for one another, bounds that moved."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from onnx import NodeProto, TensorProto

from assay.mutation.graph import Graph
from assay.mutation.mutation_operator import MutationOperator


def _open_to(mutation: str) -> Callable[[Graph], Iterable[NodeProto]]:
    return lambda graph: [node for node in graph.open_to(mutation) if graph.dtype(node.output[0]) in (0, *_FLOATS)]


_POLYNOMIAL = 8
"""Nodes of which the cubic polynomial in a Gelu by tanh is made, at most."""
_FLOATS = (TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE)


def _relu6(graph: Graph, node: NodeProto, distance: float) -> None:
    x = node.input[0]
    graph.replace(node, "Clip", [x, graph.scalar(0.0, x), graph.scalar(distance, x)])


def _leaky(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.replace(node, "LeakyRelu", [node.input[0]], alpha=distance)


def _plain_relu(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.replace(node, "Relu", [node.input[0]])


def _dropped(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.replace(node, "Identity", [node.input[0]])


def _erfs(graph: Graph) -> Iterable[NodeProto]:
    yield from graph.of("Erf")
    for node in graph.of("Gelu", "FastGelu", "BiasGelu"):
        if node.op_type == "Gelu" and node.domain in ("", "ai.onnx") and not _is_by_tanh(graph, node):
            yield node


def _is_by_tanh(graph: Graph, node: NodeProto) -> bool:
    return bool(graph.get(node, "approximate", b"none") == b"tanh")


def _tanh_gelu(graph: Graph, node: NodeProto, distance: float) -> None:
    if node.op_type == "Gelu":
        graph.set(node, "approximate", "tanh")
        return
    chain = graph.before(node, 0)
    x = chain.add("Mul", [chain.start, graph.scalar(math.sqrt(2.0), chain.start)])
    cube = chain.add("Mul", [chain.add("Mul", [x, x]), x])
    inner = chain.add("Add", [x, chain.add("Mul", [cube, graph.scalar(0.044715, chain.start)])])
    scaled = chain.add("Mul", [inner, graph.scalar(math.sqrt(2.0 / math.pi), chain.start)])
    graph.replace(node, "Tanh", [scaled])


def _tanhs(graph: Graph) -> Iterable[NodeProto]:
    """Gelu by tanh, and the Tanh of one that was taken apart."""
    yield from (node for node in graph.of("Gelu") if node.domain in ("", "ai.onnx") and _is_by_tanh(graph, node))
    yield from (node for node in graph.of("Tanh") if _argument(graph, node))


def _argument(graph: Graph, tanh: NodeProto) -> str:
    """x of tanh(sqrt(2/pi) (x + 0.044715 x^3)), however the polynomial is written; "" where it is none: every path from the
    Tanh leads through x, behind Mul, Add and Pow that read both constants."""
    missing = [math.sqrt(2.0 / math.pi), 0.044715]
    ahead: set[str] = {tanh.input[0]}
    for _ in range(_POLYNOMIAL):
        if len(ahead) == 1 and not missing:
            return ahead.pop()
        last = max((graph.producer(name) for name in ahead), key=graph.place, default=None)
        if last is None or last.op_type not in ("Mul", "Add", "Pow"):
            return ""
        ahead = {name for name in ahead if graph.producer(name) != last}
        for name in last.input:
            value = graph.value(name)
            if value is None:
                ahead.add(name)
            else:
                missing = [candidate for candidate in missing if not np.allclose(value, candidate, rtol=1e-3)]
    return ""


def _erf_gelu(graph: Graph, node: NodeProto, distance: float) -> None:
    if node.op_type == "Gelu":
        graph.set(node, "approximate", "none")
        return
    x = _argument(graph, node)
    scaled = graph.before(node, 0).add("Mul", [x, graph.scalar(math.sqrt(0.5), x)])
    graph.replace(node, "Erf", [scaled])


def _hard(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.replace(node, "HardSigmoid", [node.input[0]], alpha=1 / 6, beta=0.5)


def _clips(graph: Graph) -> Iterable[NodeProto]:
    """Clips with a constant bound."""
    for node in graph.open_to("wrong-clip-bound"):
        if _bound(graph, node) is not None:
            yield node


def _bound(graph: Graph, node: NodeProto) -> int | None:
    for place in (2, 1):
        value = graph.input_value(node, place)
        if value is not None and value.dtype.kind == "f" and np.all(np.isfinite(value)):
            return place
    return None


def _wrong_bound(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _bound(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    moved = value * (1 + distance) if np.any(value) else value + distance
    graph.replace_input(node, place, np.asarray(moved).astype(value.dtype))


def _drop_bound(graph: Graph, node: NodeProto, distance: float) -> None:
    place = _bound(graph, node)
    assert place is not None
    node.input[place] = ""


def _wrong_slope(graph: Graph, node: NodeProto, distance: float) -> None:
    graph.set(node, "alpha", float(graph.attribute(node, "alpha")) * (1 + distance))


OPERATORS = (
    MutationOperator("relu6-for-relu", "ReLU6 taken for ReLU", _open_to("relu6-for-relu"), _relu6, 6.0, "the upper bound"),
    MutationOperator("leaky-for-relu", "leaky ReLU taken for ReLU", _open_to("leaky-for-relu"), _leaky, 0.01, "the slope"),
    MutationOperator("relu-for-smooth", "ReLU taken for its smooth relatives", _open_to("relu-for-smooth"), _plain_relu),
    MutationOperator("drop-activation", "an activation lost in a fusion", _open_to("drop-activation"), _dropped),
    MutationOperator("tanh-gelu", "the tanh approximation taken for the erf of GELU", _erfs, _tanh_gelu),
    MutationOperator("erf-gelu", "the erf of GELU taken for its tanh approximation", _tanhs,
             _erf_gelu),
    MutationOperator("hard-sigmoid", "a piecewise linear function taken for the sigmoid", _open_to("hard-sigmoid"), _hard),
    MutationOperator("wrong-clip-bound", "a bound of a clip with too few digits", _clips, _wrong_bound, 1 / 60,
             "relative change of the bound"),
    MutationOperator("drop-clip-bound", "a bound of a clip lost", _clips, _drop_bound),
    MutationOperator("wrong-slope", "the default slope taken for the model's", _open_to("wrong-slope"),
             _wrong_slope, 0.1, "relative change of alpha"),
)  # fmt: skip
