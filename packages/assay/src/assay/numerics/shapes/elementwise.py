"""Shapes of operators that work element by element, with their values where these are few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from assay.numerics.shapes.constraints import Inputs, ShapeRule, Walk, broadcast, plain
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data

Fold = Callable[..., Any]


def are_known(inputs: Inputs) -> bool:
    """Whether all values are."""
    return all(value.data is not None for value in inputs)


def folded(fold: Fold, inputs: Inputs) -> Value:
    """What is computed of values that are known."""
    with np.errstate(all="ignore"):
        result = np.asarray(fold(*(value.data for value in inputs)))
    return of_data(result)


def same_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    """The shape of the first input; nothing is said of further outputs."""
    return [Value(inputs[0].shape), *(UNKNOWN for _ in node.outputs[1:])]


def unary_shape(fold: Fold) -> ShapeRule:
    """Of one input."""

    def rule(_: Node, inputs: Inputs, __: Walk) -> Sequence[Value]:
        return [folded(fold, inputs)] if are_known(inputs[:1]) else plain(inputs[0].shape)

    return rule


def binary_shape(fold: Fold) -> ShapeRule:
    """Of two inputs that broadcast, as before opset 7 too."""

    def rule(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
        first, second = (value.shape for value in inputs[:2])
        axis = node.attributes.get("axis")
        if axis is not None and first is not None and second is not None and node.attributes.get("broadcast"):
            second = second + (1,) * (len(first) - axis - len(second))
        shape = broadcast((first, second))
        return [folded(fold, inputs)] if are_known(inputs) else plain(shape)

    return rule


def variadic_shape(fold: Fold | None) -> ShapeRule:
    """Of any number of inputs that broadcast, one folded after the other; None: their values are left alone."""

    def rule(_: Node, inputs: Inputs, __: Walk) -> Sequence[Value]:
        shape = broadcast([value.shape for value in inputs])
        if fold is None or not are_known(inputs):
            return plain(shape)
        result = inputs[0].data
        for value in inputs[1:]:
            result = fold(result, value.data)
        return [of_data(np.asarray(result))]

    return rule
