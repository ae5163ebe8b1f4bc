"""Resize, and Upsample before it."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.core.screening import Unspecified
from assay.numerics.attributes import stated
from assay.numerics.operators.mutations import PICTURE
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, in_batch
from assay.numerics.oracle.hooks import Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, equal, ints, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.sampling import sampling


def _resize_rows(operator: Operator) -> Values | None:
    """Scales that leave the first axis alone."""
    scales = operator.inputs[2] if len(operator.inputs) > 2 else None
    alone = scales is not None and len(scales) == len(operator.shape(0)) and float(scales[0]) == 1.0
    return in_batch(operator) if alone and len(operator.inputs) == 3 else None


def _resize_shape(node: Node, inputs: Inputs, scope: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    old = node.op == "Upsample" or scope.opset < 11
    scales = at(inputs, 1 if old else 2)
    factors = stated(
        node.attributes,
        "scales",
        None if scales.data is None else [float(factor) for factor in scales.data.reshape(-1)],
    )
    sizes = None if old else ints(at(inputs, 3))
    axes = [axis_of(number, len(shape)) for number in stated(node.attributes, "axes", range(len(shape)))]
    dims: list[int | None] = list(shape)
    values = sizes or factors
    if not values:
        return plain((None,) * len(shape))
    equal(len(values), len(axes), ConstraintCode.RESIZED_AXES)
    keep = node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch"
    for axis, number in zip(axes, values, strict=True):
        size = shape[axis]
        dims[axis] = None if size is None or keep else int(number) if sizes else int(np.floor(size * number))
        if dims[axis] == 0 and size:
            raise Conflict(
                ConstraintCode.RESIZED_TO_NOTHING, (size, ceil(1 / number) if number else size), axis=axis, size=size
            )
    return plain(tuple(dims))


def _resize_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    known = shape is not None and None not in shape
    sizes = [float(size or 0) for size in shape or ()]
    yield 2, Need(1.0, 2.0, COUNT, exact=(1.0, 1.0, *[2.0] * (len(sizes) - 2)) if known else ())
    yield 3, Need(4, 16, COUNT, exact=(*sizes[:2], *(2 * size for size in sizes[2:])) if known else ())


def _upsample_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(1.0, 2.0, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Resize",
        rounding=sampling,
        steers=(1, 2, 3),
        reference="resizing",
        readings=((Unspecified.FRACTIONAL_LENGTH, "other_readings"), (Unspecified.UPSAMPLED_PLACE, "other_readings")),
        batched=_resize_rows,
        shape=_resize_shape,
        ranges=_resize_ranges,
        carries=first_input,
        mutations=PICTURE
        | {
            "nearest-for-linear",
            "flip-align-corners",
            "asymmetric-coordinates",
            "nearest-rounding",
            "cubic-coefficient",
        },
    ),
    *alike(
        "Upsample",
        rounding=sampling,
        steers=(1,),
        reference="resizing",
        readings=((Unspecified.UPSAMPLED_PLACE, "other_readings"),),
        shape=_resize_shape,
        ranges=_upsample_ranges,
        carries=first_input,
        mutations={"nearest-for-linear"},
    ),
)
