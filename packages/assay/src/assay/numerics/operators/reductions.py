"""Reductions along axes, and places of extremes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor, inf

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.core.screening import Unspecified
from assay.numerics.operators.mutations import EXTREME
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, along_axis, behind
from assay.numerics.oracle.hooks import Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, axis_of, ints, plain, text
from assay.numerics.shapes.elementwise import Fold
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, named_axes
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data
from assay.numerics.tolerance.rules.sums import log_reduction, reduction, relative_reduction


def _reduce_rows(operator: Operator) -> Values | None:
    if not operator.only(0):
        return None
    by_input = len(operator.inputs) > 1 and operator.inputs[1] is not None
    written_axes = operator.inputs[1] if by_input else operator.attribute("axes")
    axes = [] if written_axes is None else [int(axis) for axis in np.asarray(written_axes).reshape(-1)]
    if not axes and operator.attribute("noop_with_empty_axes"):
        return operator.run(*operator.inputs)
    moved = [behind(axis) for axis in axes] or list(range(1, operator.inputs[0].ndim))
    if not moved:
        return None
    if by_input or "axes" not in operator.call.attributes:
        return operator.run(operator.inputs[0], np.asarray(moved, np.int64))
    return operator.run(operator.inputs[0], axes=tuple(moved))


_TOTALS: dict[str, Fold] = {"ReduceProd": np.prod, "ReduceSum": np.sum, "ReduceMax": np.max, "ReduceMin": np.min}


def _reduce_shape(node: Node, inputs: Inputs, scope: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    axes = node.attributes.get("axes")
    if node.op.startswith("Arg"):
        axes = [node.attributes.get("axis", 0)]
    elif len(inputs) > 1 and node.inputs[1]:
        axes = ints(inputs[1])
        if axes is None:
            return [UNKNOWN]
    if shape is None:
        return [UNKNOWN]
    keep = node.attributes.get("keepdims", 1)
    if not axes:
        if axes is not None and node.attributes.get("noop_with_empty_axes"):
            return plain(shape)
        reduced = set(range(len(shape)))
    else:
        reduced = {axis_of(axis, len(shape)) for axis in axes}
    data = inputs[0].data
    fold = _TOTALS.get(node.op)
    if data is not None and data.size and fold is not None:
        return [of_data(np.asarray(fold(data, axis=tuple(reduced), keepdims=bool(keep))).astype(data.dtype))]
    if any(shape[axis] == 0 for axis in reduced):
        raise Conflict(ConstraintCode.EMPTY_REDUCTION, shape=text(shape))
    dims = tuple(1 if axis in reduced else size for axis, size in enumerate(shape) if keep or axis not in reduced)
    return plain(dims)


def _total_carry(_: Node, inputs: Sequence[Value], need: Need) -> Demands:
    if need.high == inf or need.kind == COUNT:
        yield 0, replace(need, low=max(need.low, 0.0), choices=(), exact=())
        return
    count = max((size or 1 for size in inputs[0].shape or ()), default=1)
    low, high = ceil(max(need.low, 0) / count), max(1.0, floor(need.high / count))
    yield 0, replace(need, low=low, high=high, choices=(), exact=())


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("ReduceL1", rounding=relative_reduction, batched=_reduce_rows, shape=_reduce_shape, ranges=named_axes),
    *alike(
        "ReduceSumSquare",
        rounding=relative_reduction,
        reference="reducing",
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
    ),
    *alike(
        "ReduceL2",
        rounding=relative_reduction,
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
        mutations={"reduce-axis"},
    ),
    *alike(
        "ReduceProd",
        rounding=relative_reduction,
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
        mutations={"bf16-lengths"},
    ),
    *alike("ReduceLogSum", rounding=log_reduction, batched=_reduce_rows, shape=_reduce_shape, ranges=named_axes),
    *alike(
        "ReduceLogSumExp",
        rounding=log_reduction,
        reference="reducing",
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
    ),
    *alike(
        "ReduceMax ReduceMin",
        moves=True,
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
        carries=first_input,
        mutations={"reduce-axis"},
    ),
    *alike(
        "ReduceMean",
        rounding=reduction,
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
        carries=first_input,
        mutations={"reduce-axis"},
    ),
    *alike(
        "ReduceSum",
        rounding=reduction,
        batched=_reduce_rows,
        shape=_reduce_shape,
        ranges=named_axes,
        carries=_total_carry,
        mutations={"reduce-axis", "bf16-lengths"},
    ),
    *alike(
        "ArgMax",
        readings=((Unspecified.EQUAL_EXTREMES, "other_readings"),),
        moves=True,
        jumps=True,
        decides="rank",
        batched=along_axis(0),
        shape=_reduce_shape,
        mistaken_for="ArgMin",
        mutations=EXTREME | {"reduce-axis"},
    ),
    *alike(
        "ArgMin",
        readings=((Unspecified.EQUAL_EXTREMES, "other_readings"),),
        moves=True,
        jumps=True,
        decides="rank",
        batched=along_axis(0),
        shape=_reduce_shape,
        mistaken_for="ArgMax",
        mutations=EXTREME | {"reduce-axis"},
    ),
)
