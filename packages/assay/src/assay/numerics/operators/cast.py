"""Changes of the element type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, elementwise
from assay.numerics.oracle.hooks import Values
from assay.numerics.shapes.constraints import Inputs, Walk, plain
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import MASK, Demands, Need
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import Node, Value, of_data
from assay.numerics.tolerance.rules.rounding_rules import cast


def _cast_like_rows(operator: Operator) -> Values | None:
    """The second input only has a type."""
    return operator.run(operator.rows(0), operator.inputs[1])


def _cast_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    if inputs[0].data is None or inputs[0].data.dtype == object:
        return plain(inputs[0].shape)
    from onnx.helper import tensor_dtype_to_np_dtype

    to = node.attributes.get("to", 1)
    if to == 8:
        return plain(inputs[0].shape)
    with np.errstate(all="ignore"):
        return [of_data(inputs[0].data.astype(tensor_dtype_to_np_dtype(to)))]


def _truth_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    if node.attributes.get("to") == 9:
        yield 0, Need(0, 1, MASK)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Cast",
        rounding=cast,
        order="kept",
        decides="step",
        batched=elementwise,
        shape=_cast_shape,
        ranges=_truth_ranges,
        carries=first_input,
        passes_divisor=True,
        free=True,
        mutations={"saturating-cast", "round-for-truncate"},
    ),
    *alike("CastLike", rounding=cast, batched=_cast_like_rows, shape=same_shape, carries=first_input, free=True),
    *alike("BitCast", moves=True, single_inside=True),
)
