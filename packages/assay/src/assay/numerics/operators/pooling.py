"""Pools over windows and over all positions."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.mutations import PICTURE, POOL
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import in_batch
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, ints, plain, text
from assay.numerics.shapes.needed_values import COUNT, UNIQUE, Demands, Need
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.shapes.windows import slide
from assay.numerics.tolerance.rules.sums import reduction, relative_reduction


def pool_shape(node: Node, inputs: Inputs, scope: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN] * len(node.outputs)
    spatial = slide(node, shape[2:], node.attributes["kernel_shape"], scope, inputs[0].padded)
    return [Value((*shape[:2], *spatial))] * max(1, len(node.outputs))


def global_pool_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is not None and 0 in shape[2:]:
        raise Conflict(ConstraintCode.EMPTY_POOL, shape=text(shape))
    return plain(None if shape is None else (*shape[:2], *(1 for _ in shape[2:])))


def _unpool_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, output_shape = inputs[0].shape, ints(at(inputs, 2))
    if output_shape:
        return plain(tuple(output_shape))
    return plain(None if shape is None else (*shape[:2], *(None for _ in shape[2:])))


def _unpooled_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """Sizes doubled, where what was pooled is placed again."""
    shape = inputs[0].shape or ()
    if None in shape:
        return
    sizes = [float(size or 0) for size in shape]
    wide = [*sizes[:2], *(2 * size for size in sizes[2:])]
    yield 1, Need(0, max(1.0, sizes[-1] * sizes[-2] - 1), UNIQUE)
    yield 2, Need(1, inf, COUNT, exact=tuple(wide))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "MaxPool",
        moves=True,
        reference="convolution",
        batched=in_batch,
        shape=pool_shape,
        carries=first_input,
        mistaken_for="AveragePool",
        mutations=POOL | PICTURE | {"pool-kind"},
    ),
    *alike(
        "AveragePool",
        rounding=reduction,
        reference="convolution",
        batched=in_batch,
        shape=pool_shape,
        carries=first_input,
        mistaken_for="MaxPool",
        mutations=POOL | PICTURE | {"count-padding", "pool-kind"},
    ),
    *alike(
        "LpPool",
        rounding=relative_reduction,
        reference="convolution",
        batched=in_batch,
        shape=pool_shape,
        mutations=POOL,
    ),
    *alike(
        "GlobalAveragePool",
        rounding=reduction,
        reference="reducing",
        batched=in_batch,
        shape=global_pool_shape,
        carries=first_input,
        mistaken_for="GlobalMaxPool",
        mutations={"pool-kind"},
    ),
    *alike(
        "GlobalMaxPool",
        moves=True,
        reference="reducing",
        batched=in_batch,
        shape=global_pool_shape,
        carries=first_input,
        mistaken_for="GlobalAveragePool",
        mutations={"pool-kind"},
    ),
    *alike("GlobalLpPool", rounding=relative_reduction, reference="region_ops", shape=global_pool_shape),
    *alike("MaxUnpool", moves=True, shape=_unpool_shape, ranges=_unpooled_ranges),
)
