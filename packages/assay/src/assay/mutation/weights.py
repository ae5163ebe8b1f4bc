"""Weights and biases that a compiler lost, moved or misread."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.coarse_arithmetic import weight_places
from assay.mutation.graph import Array, Graph, known
from assay.mutation.mutation_operator import MutationOperator


def bias_place(graph: Graph, node: NodeProto) -> int | None:
    """Which input is a constant bias that is not zero: also that of an Add after a product."""
    place = known(node).bias
    if node.op_type == "Add":
        place = next((p for p in (0, 1) if _is_vector(graph.input_value(node, p))), None)
    value = graph.input_value(node, place) if place is not None else None
    return place if value is not None and value.size and np.any(value) else None


def _is_vector(value: Array | None) -> bool:
    return value is not None and value.size > 1 and value.size == max(value.shape)


def biased(graph: Graph) -> Iterable[NodeProto]:
    """Nodes with a constant bias."""
    return [node for node in graph.open_to("drop-bias") if bias_place(graph, node) is not None]


def _change_bias(graph: Graph, node: NodeProto, new: Array) -> None:
    place = bias_place(graph, node)
    assert place is not None
    graph.replace_input(node, place, new)


def _bias(graph: Graph, node: NodeProto) -> Array:
    place = bias_place(graph, node)
    value = graph.input_value(node, place) if place is not None else None
    assert value is not None
    return value


def _drop_bias(graph: Graph, node: NodeProto, distance: float) -> None:
    _change_bias(graph, node, np.zeros_like(_bias(graph, node)))


def _drop_bias_element(graph: Graph, node: NodeProto, distance: float) -> None:
    value = _bias(graph, node).copy()
    # The median in size: neither the easiest element to see nor one that is zero anyway.
    order = np.argsort(np.abs(value.reshape(-1)), kind="stable")
    order = order[np.abs(value.reshape(-1)[order]) > 0]
    value.reshape(-1)[order[len(order) // 2]] = 0
    _change_bias(graph, node, value)


def _rolled_bias(graph: Graph, node: NodeProto, distance: float) -> None:
    value = _bias(graph, node)
    _change_bias(graph, node, np.roll(value, 1, axis=int(np.argmax(value.shape))))


def _many_bias(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in biased(graph) if np.unique(_bias(graph, node)).size > 1]


def _first_weight(graph: Graph, node: NodeProto) -> tuple[int, Array]:
    place = weight_places(graph, node)[0]
    value = graph.input_value(node, place)
    assert value is not None
    return place, value


def contraction_axis(graph: Graph, node: NodeProto, place: int, rank: int) -> int:
    """The axis of a weight that is summed over."""
    contracted = known(node).contracted
    return rank - 1 if contracted is None else contracted(place, rank, lambda name: int(graph.get(node, name, 0)))


def _drop_last_term(graph: Graph, node: NodeProto, distance: float) -> None:
    place, value = _first_weight(graph, node)
    new = value.copy()
    axis = contraction_axis(graph, node, place, value.ndim)
    index = [slice(None)] * value.ndim
    index[axis] = slice(-1, None)
    for other in range(2, value.ndim) if "rotate-kernel" in known(node).mutations else ():
        index[other] = slice(-1, None)
    new[tuple(index)] = 0
    graph.replace_input(node, place, new)


def _flip_sign(graph: Graph, node: NodeProto, distance: float) -> None:
    place, value = _first_weight(graph, node)
    new = value.copy()
    order = np.argsort(np.abs(new.reshape(-1)), kind="stable")
    new.reshape(-1)[order[len(order) // 2]] *= -1
    graph.replace_input(node, place, new)


def _spatial(graph: Graph) -> Iterable[NodeProto]:
    """Convolutions whose kernel is not its own rotation."""
    for node in graph.open_to("rotate-kernel"):
        value = graph.input_value(node, 1)
        if value is not None and value.ndim > 2 and not np.array_equal(value, _rotated(value)):
            yield node


def _rotated(value: Array) -> Array:
    return np.flip(value, axis=tuple(range(2, value.ndim)))


def _rotate_kernel(graph: Graph, node: NodeProto, distance: float) -> None:
    value = graph.input_value(node, 1)
    assert value is not None
    graph.replace_input(node, 1, _rotated(value))


def _square(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("transpose-weight"):
        for place in weight_places(graph, node)[:1]:
            value = graph.input_value(node, place)
            assert value is not None
            if value.shape[-1] == value.shape[-2] and not np.array_equal(value, np.swapaxes(value, -1, -2)):
                yield node


def _transpose_weight(graph: Graph, node: NodeProto, distance: float) -> None:
    place, value = _first_weight(graph, node)
    graph.replace_input(node, place, np.swapaxes(value, -1, -2))


def _channelled(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("shift-channels"):
        value = graph.input_value(node, 1)
        if value is not None and value.shape[0] > 1:
            yield node


def _shift_channels(graph: Graph, node: NodeProto, distance: float) -> None:
    value = graph.input_value(node, 1)
    assert value is not None
    graph.replace_input(node, 1, np.roll(value, 1, axis=0))


def _misread_weight(graph: Graph, node: NodeProto, distance: float) -> None:
    """The bytes of an OIHW kernel read as OHWI."""
    value = graph.input_value(node, 1)
    assert value is not None
    order = (0, *range(2, value.ndim), 1)
    shape = tuple(value.shape[axis] for axis in order)
    back = tuple(int(axis) for axis in np.argsort(order))
    graph.replace_input(node, 1, value.reshape(shape).transpose(back))


def _misreadable(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("misread-weight-layout"):
        value = graph.input_value(node, 1)
        if value is not None and value.ndim > 2 and value.shape[1] > 1 and max(value.shape[2:]) > 1:
            yield node


def _layers(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("drop-last-term") if weight_places(graph, node)]


OPERATORS = (
    MutationOperator("drop-bias", "a bias lost in a fusion", biased, _drop_bias),
    MutationOperator("drop-bias-element", "one element of a bias lost at the edge of a vector", biased, _drop_bias_element),
    MutationOperator("shift-bias", "a bias read from the neighbouring channel", _many_bias, _rolled_bias),
    MutationOperator("drop-last-term", "the last term of a sum left out by a loop that ends too early", _layers, _drop_last_term),
    MutationOperator("flip-weight-sign", "one weight with a wrong sign", _layers, _flip_sign),
    MutationOperator("rotate-kernel", "convolution and correlation exchanged", _spatial, _rotate_kernel),
    MutationOperator("transpose-weight", "a weight matrix or kernel read transposed", _square,
             _transpose_weight),
    MutationOperator("shift-channels", "output (or depthwise) channels shifted by one", _channelled,
             _shift_channels),
    MutationOperator("misread-weight-layout", "OHWI weights read as OIHW", _misreadable, _misread_weight),
)  # fmt: skip
