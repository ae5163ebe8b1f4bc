"""Losses of classifiers, which the standard defines as functions of other operators."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.needed_values import Demands, index_into, size_of
from assay.numerics.shapes.values import Node, Value


def _labels_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, index_into(size_of(inputs, 0, 1))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss", expanded=True, ranges=_labels_ranges),
)
