"""Operators that draw random numbers."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Inputs, Walk, plain
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import Node, Value


def _random_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(tuple(node.attributes["shape"]))


def _ratio_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(0.0, 0.5, COUNT)
    yield 2, Need(0, 0, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("Bernoulli", moves=True, jumps=True, draws=True, shape=same_shape),
    *alike("Multinomial", moves=True, jumps=True, draws=True, reference="random_ops"),
    *alike("RandomNormal RandomUniform", moves=True, draws=True, shape=_random_shape),
    *alike("RandomNormalLike RandomUniformLike", moves=True, draws=True, shape=same_shape),
    *alike(
        "Dropout",
        moves=True,
        steers=(1, 2),
        drops=(1, 2),
        reference="old_forms",
        shape=same_shape,
        ranges=_ratio_ranges,
        carries=first_input,
    ),
)
