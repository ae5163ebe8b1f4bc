"""Comparisons, choices and arithmetic of bits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import elementwise
from assay.numerics.shapes.constraints import Inputs, Walk, broadcast, plain
from assay.numerics.shapes.elementwise import are_known, binary_shape, folded, same_shape, unary_shape
from assay.numerics.shapes.needed_values import MOST_TEXTS, Demands, Need
from assay.numerics.shapes.values import Node, Value, product


def _shifted_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    return plain(broadcast([value.shape for value in inputs[:2]]))


def _where_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = broadcast([value.shape for value in inputs])
    return [folded(np.where, inputs)] if are_known(inputs) else plain(shape)


def _bound_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """A scalar that is compared with a row of known numbers bounds it: a lower bound lies in their lowest quarter, an upper one in
    the highest, so that some numbers are left between the two."""
    for place, other in ((0, 1), (1, 0)):
        known, shape = inputs[other].data, inputs[place].shape
        if known is None or known.size < 2 or known.dtype.kind not in "iuf" or shape is None or product(shape) != 1:
            continue
        least, most = float(known.min()), float(known.max())
        quarter = (most - least) / 4
        # `s < row` and `row > s` keep what is above.
        lower = node.op.startswith("Less") == (place == 0)
        yield place, Need(least, least + quarter) if lower else Need(most - quarter, most)


def _compared_text_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, other in ((0, 1), (1, 0)):
        known = inputs[other].data
        if known is not None and known.dtype == object and known.size:
            texts = tuple(dict.fromkeys(str(text) for text in known.reshape(-1)[:MOST_TEXTS]))
            yield place, Need(texts=(*texts, "other"))


def _chosen_carry(_: Node, __: Sequence[Value], need: Need) -> Demands:
    yield from ((place, need) for place in (1, 2))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "And",
        moves=True,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.logical_and),
        mistaken_for="Or",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "Or",
        moves=True,
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.logical_or),
        mistaken_for="And",
        mutations={"exchange-comparison"},
    ),
    *alike("Xor", moves=True, reference="old_forms", batched=elementwise, shape=binary_shape(np.logical_xor)),
    *alike("Not", moves=True, batched=elementwise, shape=unary_shape(np.logical_not)),
    *alike("BitShift", moves=True, shape=_shifted_shape),
    *alike("BitwiseAnd", moves=True, batched=elementwise, shape=binary_shape(np.bitwise_and)),
    *alike("BitwiseNot", moves=True, batched=elementwise, shape=unary_shape(np.invert)),
    *alike("BitwiseOr", moves=True, batched=elementwise, shape=binary_shape(np.bitwise_or)),
    *alike("BitwiseXor", moves=True, batched=elementwise, shape=binary_shape(np.bitwise_xor)),
    *alike(
        "Equal",
        moves=True,
        jumps=True,
        decides="comparison",
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.equal),
        ranges=_compared_text_ranges,
    ),
    *alike(
        "Greater",
        moves=True,
        jumps=True,
        decides="comparison",
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.greater),
        ranges=_bound_ranges,
        mistaken_for="GreaterOrEqual",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "GreaterOrEqual",
        moves=True,
        jumps=True,
        decides="comparison",
        batched=elementwise,
        shape=binary_shape(np.greater_equal),
        ranges=_bound_ranges,
        mistaken_for="Greater",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "Less",
        moves=True,
        jumps=True,
        decides="comparison",
        reference="old_forms",
        batched=elementwise,
        shape=binary_shape(np.less),
        ranges=_bound_ranges,
        mistaken_for="LessOrEqual",
        mutations={"exchange-comparison"},
    ),
    *alike(
        "LessOrEqual",
        moves=True,
        jumps=True,
        decides="comparison",
        batched=elementwise,
        shape=binary_shape(np.less_equal),
        ranges=_bound_ranges,
        mistaken_for="Less",
        mutations={"exchange-comparison"},
    ),
    *alike("IsInf", moves=True, batched=elementwise, shape=same_shape),
    *alike("IsNaN", moves=True, batched=elementwise, shape=unary_shape(np.isnan)),
    *alike(
        "Where",
        moves=True,
        batched=elementwise,
        shape=_where_shape,
        carries=_chosen_carry,
        free=True,
        mutations={"invert-condition"},
    ),
)
