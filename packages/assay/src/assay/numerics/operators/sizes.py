"""Operators that read sizes, or change them and no element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import inf

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, axes_of, behind
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, broadcast, ints, plain, text
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, named_axes, size_of
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data, product


def reshape(call: Call) -> Values | None:
    """None: onnx.reference does it. Raises Conflict for a size below -1."""
    shape_read = call.input(1) if len(call.inputs) > 1 else call.attributes.get("shape")
    sizes = np.asarray(shape_read if shape_read is not None else ())
    if sizes.size and sizes.min() < -1:
        raise Conflict(ConstraintCode.NO_SHAPE, sizes=tuple(sizes.reshape(-1).tolist()))
    return None


def _reshape_rows(operator: Operator) -> Values | None:
    if not operator.only(0) or len(operator.inputs) < 2:
        return None
    shape, shape_read = operator.shape(0), [int(size) for size in operator.inputs[1]]
    if min(shape_read, default=0) < -1:
        return None
    if not operator.attribute("allowzero"):
        shape_read = [shape[place] if size == 0 else size for place, size in enumerate(shape_read)]
    if -1 in shape_read:
        known = math.prod(size for size in shape_read if size != -1)
        if not known:
            return None
        shape_read[shape_read.index(-1)] = math.prod(shape) // known
    return (operator.inputs[0].reshape(operator.count, *shape_read),)


def _flatten_rows(operator: Operator) -> Values | None:
    shape, axis = operator.shape(0), int(operator.attribute("axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    return (operator.inputs[0].reshape(operator.count, math.prod(shape[:axis]), math.prod(shape[axis:])),)


def _squeeze_rows(operator: Operator) -> Values | None:
    if not operator.only(0):
        return None
    axes = axes_of(operator, 1)
    if axes is None:
        axes = [place for place, size in enumerate(operator.shape(0)) if size == 1]
    return (np.squeeze(operator.inputs[0], tuple(behind(axis) for axis in axes)),)


def _unsqueeze_rows(operator: Operator) -> Values | None:
    axes = axes_of(operator, 1)
    if not operator.only(0) or axes is None:
        return None
    return (np.expand_dims(operator.inputs[0], tuple(behind(axis) for axis in axes)),)


def _expand_rows(operator: Operator) -> Values | None:
    if not operator.only(0):
        return None
    target = np.broadcast_shapes(operator.shape(0), tuple(int(size) for size in operator.inputs[1]))
    return (np.broadcast_to(operator.aligned(len(target))[0], (operator.count, *target)),)


def _expand_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    target = ints(at(inputs, 1))
    if target is None:
        length = (at(inputs, 1).shape or (None,))[0]
        known = inputs[0].shape
        return [UNKNOWN] if length is None or known is None else plain((None,) * max(length, len(known)))
    shape = broadcast((inputs[0].shape, tuple(target)))
    if inputs[0].data is not None and shape is not None and np.prod([size or 0 for size in shape]) <= 4096:
        return [of_data(np.broadcast_to(inputs[0].data, [size or 0 for size in shape]))]
    return plain(shape)


def _shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return plain((None,))
    cut = shape[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    return [of_data(np.array(cut, np.int64))] if None not in cut else plain((len(cut),))


def _size_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    count = None if inputs[0].shape is None else product(inputs[0].shape)
    return plain(()) if count is None else [of_data(np.array(count, np.int64))]


def _reshape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    target = node.attributes.get("shape") if len(inputs) < 2 else ints(inputs[1])
    if target is None:
        rank = (at(inputs, 1).shape or (None,))[0]
        return [UNKNOWN] if rank is None else plain((None,) * rank)
    sizes: list[int | None] = list(target)
    if not node.attributes.get("allowzero"):
        for place, size in enumerate(sizes):
            if size == 0:
                if shape is not None and place >= len(shape):
                    raise Conflict(ConstraintCode.COPIED_AXIS, shape=text(shape), axis=place, wanted=tuple(target))
                sizes[place] = None if shape is None else shape[place]
    total = None if shape is None else product(shape)
    rest = product(size for size in sizes if size != -1)
    if sizes.count(-1) > 1:
        raise Conflict(ConstraintCode.TWO_FREE_SIZES, wanted=tuple(target))
    if -1 in sizes:
        if total is None or rest is None:
            return plain(tuple(None if size == -1 else size for size in sizes))
        if total % rest if rest else total:
            raise Conflict(
                ConstraintCode.RESHAPED_MULTIPLE,
                (total, rest),
                shape=text(shape or ()),
                elements=total,
                rest=rest,
                wanted=tuple(target),
            )
        sizes[sizes.index(-1)] = total // rest if rest else 0
    elif total is not None and rest is not None and total != rest:
        raise Conflict(
            ConstraintCode.RESHAPED_ELEMENTS,
            (total, rest),
            (rest, total),
            shape=text(shape or ()),
            elements=total,
            rest=rest,
            wanted=tuple(target),
        )
    if inputs[0].data is not None and None not in sizes:
        return [of_data(inputs[0].data.reshape([size or 0 for size in sizes]))]
    return plain(tuple(sizes))


def _flatten_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return plain((None, None))
    axis = node.attributes.get("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return plain((product(shape[:axis]), product(shape[axis:])))


def _axes_shape(node: Node, inputs: Inputs) -> list[int] | None:
    return node.attributes.get("axes") if len(inputs) < 2 or not node.inputs[1] else ints(inputs[1])


def _squeeze_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, axes = inputs[0].shape, _axes_shape(node, inputs)
    if shape is None or (axes is None and len(inputs) > 1 and node.inputs[1]):
        return [UNKNOWN]
    if axes is None:
        if None in shape:
            return [UNKNOWN]
        dropped = {place for place, size in enumerate(shape) if size == 1}
    else:
        dropped = {axis_of(stated_axis, len(shape)) for stated_axis in axes}
        for axis in dropped:
            if shape[axis] not in (None, 1):
                raise Conflict(ConstraintCode.DROPPED_AXIS, (shape[axis] or 0, 1), axis=axis, shape=text(shape))
    dims = tuple(size for place, size in enumerate(shape) if place not in dropped)
    return [of_data(inputs[0].data.reshape([dim or 0 for dim in dims]))] if inputs[0].data is not None else plain(dims)


def _unsqueeze_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, axes = inputs[0].shape, _axes_shape(node, inputs)
    if shape is None or axes is None:
        return [UNKNOWN]
    rank = len(shape) + len(axes)
    added = {axis_of(axis, rank) for axis in axes}
    rest = iter(shape)
    dims = tuple(1 if place in added else next(rest) for place in range(rank))
    return [of_data(inputs[0].data.reshape([dim or 0 for dim in dims]))] if inputs[0].data is not None else plain(dims)


def _shape_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """The shape that it has, where the rank stays; else everything on the first axis."""
    shape, count = inputs[0].shape, size_of(inputs, 1, 0)
    if shape is None or count is None:
        return
    if len(shape) == count and None not in shape:
        yield 1, Need(1, inf, COUNT, exact=tuple(float(size or 0) for size in shape))
    elif node.op == "Reshape":
        yield 1, Need(-1, 1, COUNT, exact=(-1.0, *[1.0] * (count - 1)))
    else:
        yield 1, Need(1, 1, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Reshape",
        moves=True,
        steers=(1,),
        order="kept",
        reference="old_forms",
        kernel=reshape,
        batched=_reshape_rows,
        shape=_reshape,
        ranges=_shape_ranges,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike(
        "Flatten",
        moves=True,
        order="kept",
        reference="reducing",
        batched=_flatten_rows,
        shape=_flatten_shape,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike(
        "Squeeze",
        moves=True,
        steers=(1,),
        order="kept",
        batched=_squeeze_rows,
        shape=_squeeze_shape,
        ranges=named_axes,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike(
        "Unsqueeze",
        moves=True,
        steers=(1,),
        order="kept",
        reference="reducing",
        batched=_unsqueeze_rows,
        shape=_unsqueeze_shape,
        ranges=named_axes,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
    *alike(
        "Shape",
        moves=True,
        steers=(0,),
        reads_sizes=True,
        reference="reducing",
        shape=_shape,
        free=True,
        mutations={"bf16-lengths"},
    ),
    *alike("Size", moves=True, steers=(0,), reads_sizes=True, shape=_size_shape, free=True, mutations={"bf16-lengths"}),
    *alike(
        "Expand",
        moves=True,
        steers=(1,),
        order="joined",
        batched=_expand_rows,
        shape=_expand_shape,
        ranges=_shape_ranges,
        carries=first_input,
        passes_divisor=True,
        free=True,
    ),
)
