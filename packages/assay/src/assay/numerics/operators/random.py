"""Operators that draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Inputs, Walk, plain
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.requirements import COUNT, Demands, Need
from assay.numerics.shapes.values import Node, Value


def _random_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(tuple(node.attributes["shape"]))


def _ratio_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.0, 0.5, COUNT)
    yield 2, Need(0, 0, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Bernoulli", moves=True, shape=same_shape, jumps=True, draws=True),
    *alike("Multinomial", moves=True, jumps=True, draws=True),
    *alike("RandomNormal RandomUniform", moves=True, shape=_random_shape, draws=True),
    *alike("RandomNormalLike RandomUniformLike", moves=True, shape=same_shape, draws=True),
    *alike("Dropout", moves=True, shape=same_shape, ranges=_ratio_ranges, carries=first_input, steers=(1, 2)),
)
