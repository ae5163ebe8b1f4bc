"""Operators that move elements whole."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, behind, elementwise, in_batch
from assay.numerics.oracle.hooks import Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, equal, ints, plain
from assay.numerics.shapes.elementwise import same_shape, unary_shape
from assay.numerics.shapes.needed_values import COUNT, LENGTH, Demands, Need, size_of
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data, product
from assay.numerics.tolerance.rules.rounding_rules import rounding


def _transpose_rows(operator: Operator) -> Values | None:
    order = operator.attribute("perm")
    order = range(len(operator.shape(0)))[::-1] if order is None or not len(order) else order
    return (np.transpose(operator.inputs[0], (0, *(behind(int(axis)) for axis in order))),)


def _tile_rows(operator: Operator) -> Values | None:
    if not operator.only(0) or len(operator.inputs) != 2:
        return None
    return (np.tile(operator.inputs[0], (1, *(int(times) for times in operator.inputs[1]))),)


def _transpose_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    order = stated(node.attributes, "perm", list(range(len(shape)))[::-1])
    equal(len(shape), len(order), ConstraintCode.PERM_LENGTH)
    if inputs[0].data is not None:
        return [of_data(np.transpose(inputs[0].data, order))]
    return plain(tuple(shape[axis] for axis in order))


def _tile_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, repeats = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    if repeats is None:
        return plain((None,) * len(shape))
    equal(len(shape), len(repeats), ConstraintCode.REPEATS)
    if inputs[0].data is not None:
        return [of_data(np.tile(inputs[0].data, repeats))]
    return plain(tuple(None if size is None else size * times for size, times in zip(shape, repeats, strict=True)))


def _depth_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None or None in shape:
        return [UNKNOWN] if shape is None else plain((None,) * len(shape))
    count, channels, height, width = (size or 0 for size in shape)
    block = node.attributes["blocksize"]
    if node.op == "DepthToSpace":
        _demand_multiple(channels, block * block, "channels")
        return plain((count, channels // (block * block), height * block, width * block))
    _demand_multiple(height, block, "height")
    _demand_multiple(width, block, "width")
    return plain((count, channels * block * block, height // block, width // block))


def _demand_multiple(size: int, divisor: int, what: str) -> None:
    if size % divisor:
        raise Conflict(
            ConstraintCode.MULTIPLE_OF_BLOCK, (size, -(-size // divisor) * divisor), of=what, size=size, divisor=divisor
        )


def _columns_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, image, block = inputs[0].shape, ints(at(inputs, 1)), ints(at(inputs, 2))
    if shape is None or image is None or block is None or shape[1] is None:
        return [UNKNOWN]
    count = product(block) or 1
    if shape[1] % count:
        raise Conflict(ConstraintCode.ROWS_OF_BLOCK, (shape[1], count), size=shape[1], divisor=count)
    return plain((shape[0], shape[1] // count, *image))


def _reversed_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(1, size_of(inputs, 0, node.attributes.get("time_axis", 0)) or 1, LENGTH)


def _sizes_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(1, 4, COUNT)


def _columns_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """Blocks of one element, and a picture of one row."""
    length, rank = size_of(inputs, 0, 2), size_of(inputs, 2, 0)
    if length is not None and rank is not None:
        yield 1, Need(1, inf, COUNT, exact=(float(length), *[1.0] * (rank - 1)))
        yield 2, Need(1, 1, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Transpose",
        moves=True,
        order="moved",
        batched=_transpose_rows,
        shape=_transpose_shape,
        carries=first_input,
        passes_divisor=True,
        free=True,
        mutations={"swap-perm", "reshape-for-transpose"},
    ),
    *alike(
        "Tile",
        moves=True,
        steers=(1,),
        order="joined",
        batched=_tile_rows,
        shape=_tile_shape,
        ranges=_sizes_ranges,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike(
        "DepthToSpace",
        moves=True,
        order="moved",
        batched=in_batch,
        shape=_depth_shape,
        carries=first_input,
        free=True,
        mutations={"depth-to-space-order"},
    ),
    *alike(
        "SpaceToDepth", moves=True, order="moved", batched=in_batch, shape=_depth_shape, carries=first_input, free=True
    ),
    *alike("ReverseSequence", moves=True, shape=same_shape, ranges=_reversed_ranges, carries=first_input),
    *alike("Trilu", moves=True, shape=same_shape, carries=first_input),
    *alike(
        "Identity",
        moves=True,
        order="kept",
        batched=elementwise,
        shape=unary_shape(lambda x: x),
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike("Col2Im", rounding=rounding, shape=_columns_shape, ranges=_columns_ranges),
)
