"""Normalization with a wrong epsilon, a wrong variance or a wrong mean, whole or taken apart into single operators."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from onnx import NodeProto

from assay.mutation.graph import Graph, known
from assay.mutation.mutation_operator import MutationOperator

_LARGEST_EPSILON = 2e-3
"""A constant added before a square root or a division, up to here, is an epsilon."""


def _epsilon_place(graph: Graph, node: NodeProto) -> int | None:
    """Which input of an Add, Max or Clip is an epsilon: a small constant on the way to a root, power or division."""
    for place in range(min(2, len(node.input))):
        value = graph.input_value(node, place)
        small = value is not None and value.size == 1 and 0 < abs(float(value.reshape(-1)[0])) <= _LARGEST_EPSILON
        readers = {reader.op_type for reader, _ in graph.consumers(node.output[0])}
        if small and readers & {"Sqrt", "Pow", "Reciprocal", "Div", "Rsqrt"}:
            return place
    return None


def _epsilons(graph: Graph) -> Iterable[NodeProto]:
    whole = list(graph.open_to("epsilon-times"))
    return [*whole, *(node for node in graph.of("Add", "Max") if _epsilon_place(graph, node) is not None)]


def _times_epsilon(graph: Graph, node: NodeProto, distance: float) -> None:
    if "epsilon-times" in known(node).mutations:
        graph.set(node, "epsilon", float(graph.get(node, "epsilon", 1e-5)) * distance)
        return
    place = _epsilon_place(graph, node)
    assert place is not None
    value = graph.input_value(node, place)
    assert value is not None
    graph.replace_input(node, place, (value.astype(np.float64) * distance).astype(value.dtype))


def _drop_epsilon(graph: Graph, node: NodeProto, distance: float) -> None:
    _times_epsilon(graph, node, 0.0)


def _with_variance(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("wrong-variance"):
        if graph.input_value(node, 4) is not None:
            yield node


def _wrong_variance(graph: Graph, node: NodeProto, distance: float) -> None:
    variance = graph.input_value(node, 4)
    assert variance is not None
    graph.replace_input(node, 4, (variance * (1 + distance)).astype(variance.dtype))


def _neighbour_mean(graph: Graph, node: NodeProto, distance: float) -> None:
    mean = graph.input_value(node, 3)
    assert mean is not None
    graph.replace_input(node, 3, np.roll(mean, 1))


def _with_means(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("neighbour-mean"):
        mean = graph.input_value(node, 3)
        if mean is not None and np.unique(mean).size > 1:
            yield node


def _unscaled(graph: Graph) -> Iterable[NodeProto]:
    for node in graph.open_to("drop-norm-scale"):
        scale = graph.input_value(node, 1)
        if scale is not None and np.any(scale != 1):
            yield node


def _drop_scale(graph: Graph, node: NodeProto, distance: float) -> None:
    scale = graph.input_value(node, 1)
    assert scale is not None
    graph.replace_input(node, 1, np.ones_like(scale))


def _over_axis(graph: Graph) -> Iterable[NodeProto]:
    """Layer norms whose axis has a known length n, for n / (n - 1)."""
    for node in graph.open_to("unbiased-variance"):
        if _length(graph, node) > 1 and graph.input_value(node, 1) is not None:
            yield node


def _length(graph: Graph, node: NodeProto) -> int:
    shape = graph.shape(node.input[0]) or ()
    if node.op_type == "InstanceNormalization":
        dimensions = shape[2:]
    else:
        axis = int(graph.get(node, "axis", -1))
        dimensions = shape[axis:] if shape else ()
    return int(np.prod([d or 0 for d in dimensions])) if dimensions else 0


def _unbiased(graph: Graph, node: NodeProto, distance: float) -> None:
    """Divided by the root of the variance over n - 1: the same as a scale smaller by sqrt((n - 1) / n)."""
    scale, n = graph.input_value(node, 1), _length(graph, node)
    assert scale is not None
    graph.replace_input(node, 1, (scale * np.sqrt((n - 1) / n)).astype(scale.dtype))


def _collapsible(graph: Graph) -> Iterable[NodeProto]:
    return [node for node in graph.open_to("norm-to-zeros") if graph.is_float(node.output[0])]


def _collapse(graph: Graph, node: NodeProto, distance: float) -> None:
    """The variance overflowed to infinity: everything divided by it is zero."""
    chain = graph.after(node)
    chain.done(chain.add("Mul", [chain.start, graph.scalar(0.0, chain.start)]))


OPERATORS = (
    MutationOperator("epsilon-times", "epsilon of another framework's default", _epsilons, _times_epsilon, 100.0, "factor of epsilon"),
    MutationOperator("drop-epsilon", "epsilon lost", _epsilons, _drop_epsilon),
    MutationOperator("wrong-variance", "batch norm folded with the variance of n instead of n - 1",
             _with_variance, _wrong_variance, 1 / 31, "relative change of the variance"),
    MutationOperator("neighbour-mean", "the mean of the neighbouring channel", _with_means, _neighbour_mean),
    MutationOperator("drop-norm-scale", "the scale of a normalization lost", _unscaled,
             _drop_scale),
    MutationOperator("unbiased-variance", "the variance over n - 1 taken for that over n", _over_axis, _unbiased),
    MutationOperator("norm-to-zeros", "a variance that overflowed", _collapsible, _collapse),
)  # fmt: skip
