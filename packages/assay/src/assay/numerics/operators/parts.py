"""Operators that join, cut and fill along axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, along_axis, axes_of, behind
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, equal, ints, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, first_axes, size_of
from assay.numerics.shapes.propagation import every_input, first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value, of_data


def _pad_kernel(call: Call) -> Values | None:
    """What is taken away goes first: the edge, or what is reflected, is that of what is left."""
    x = call.inputs[0]
    named = call.attributes.get("pads") if call.version > 1 else call.attributes.get("paddings")
    pads = np.asarray(call.input(1) if named is None else named, np.int64).reshape(-1)
    if not np.any(pads < 0):
        return None
    axes = range(x.ndim) if call.input(3) is None else [int(number) for number in np.asarray(call.input(3)).reshape(-1)]
    if len(pads) != 2 * len(axes):
        return None
    around = [(0, 0)] * x.ndim
    kept = [slice(None)] * x.ndim
    for axis, begin, end in zip(axes, pads[: len(axes)].tolist(), pads[len(axes) :].tolist(), strict=True):
        size = x.shape[axis]
        if size + min(begin, 0) + min(end, 0) < 0:
            raise Conflict(ConstraintCode.NEGATIVE_PADDING, axis=axis, size=size, before=begin, after=end)
        kept[axis] = slice(max(0, -begin), size + min(end, 0))
        around[axis] = max(0, begin), max(0, end)
    mode = stated(call.attributes, "mode", "constant")
    how: Any = mode.decode() if isinstance(mode, bytes) else mode
    value = call.attributes.get("value") if named is not None else call.input(2)
    options: dict[str, Any] = {"constant_values": 0 if value is None else value} if how == "constant" else {}
    return (np.pad(x[tuple(kept)], around, mode=how, **options).astype(x.dtype, copy=False),)


def _slice_rows(operator: Operator) -> Values | None:
    if not operator.only(0) or len(operator.inputs) < 3:
        return None
    starts = np.asarray(operator.inputs[1]).reshape(-1)
    axes = axes_of(operator, 3)
    moved = np.asarray([behind(axis) for axis in (range(len(starts)) if axes is None else axes)], np.int64)
    return operator.run(*operator.inputs[:3], moved, *operator.inputs[4:])


def _pad_rows(operator: Operator) -> Values | None:
    if not operator.only(0) or len(operator.inputs) < 2:
        return None
    pads, axes = np.asarray(operator.inputs[1]).reshape(-1), axes_of(operator, 3)
    if axes is not None:
        return operator.run(*operator.inputs[:3], np.asarray([behind(axis) for axis in axes], np.int64))
    half = len(pads) // 2
    moved = np.concatenate([[0], pads[:half], [0], pads[half:]]).astype(np.int64)
    return operator.run(operator.inputs[0], moved, *operator.inputs[2:])


def _concat_rows(operator: Operator) -> Values | None:
    if any(not operator.shape(position) for position in range(len(operator.inputs))):
        return None
    rows = [operator.rows(position) for position in range(len(operator.inputs))]
    return (np.concatenate(rows, behind(int(operator.attribute("axis", 0)))),)


def _concat_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shapes = [value.shape for value in inputs]
    known = [shape for shape in shapes if shape is not None]
    if not known:
        return [UNKNOWN]
    rank = len(known[0])
    axis = axis_of(node.attributes.get("axis", 1), rank)
    data = [value.data for value in inputs if value.data is not None]
    if len(data) == len(inputs):
        return [of_data(np.concatenate([np.atleast_1d(array) for array in data], axis=axis))]
    dims: list[int | None] = list(known[0])
    for part in known[1:]:
        equal(rank, len(part), ConstraintCode.CONCATENATED_RANKS)
        for place in range(rank):
            if place != axis:
                dims[place] = equal(dims[place], part[place], ConstraintCode.CONCATENATED_SIZES, axis=place)
    sizes = [part[axis] for part in known]
    dims[axis] = None if None in sizes or len(known) < len(shapes) else sum(size for size in sizes if size is not None)
    return plain(tuple(dims))


def _split_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    count = len(node.outputs)
    if shape is None:
        return [UNKNOWN] * count
    axis = axis_of(node.attributes.get("axis", 0), len(shape))
    size = shape[axis]
    sizes = node.attributes.get("split")
    parts: list[int | None]
    if len(inputs) > 1 and node.inputs[1]:
        sizes = ints(inputs[1])
        parts = [None] * count if sizes is None else list(sizes)
    elif sizes:
        parts = list(sizes)
    elif size is None:
        parts = [None] * count
    else:
        pieces = node.attributes.get("num_outputs", count)
        if size % pieces and "num_outputs" not in node.attributes:
            padded = -(-size // pieces) * pieces
            raise Conflict(ConstraintCode.SPLIT_EVENLY, (size, padded), axis=axis, size=size, parts=pieces)
        each = -(-size // pieces)
        parts = [max(0, min(each, size - each * place)) for place in range(pieces)]
    if sizes and size is not None and sum(sizes) != size:
        raise Conflict(ConstraintCode.SPLIT_INTO, (size, sum(sizes)), axis=axis, size=size, parts=tuple(sizes))
    if inputs[0].data is not None and None not in parts:
        places = np.cumsum([part or 0 for part in parts])[:-1]
        return [of_data(array) for array in np.split(inputs[0].data, places, axis=axis)]
    return [Value((*shape[:axis], part, *shape[axis + 1 :])) for part in parts]


def _slice_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    rank = len(shape)
    if "starts" in node.attributes:
        starts, ends = node.attributes["starts"], node.attributes["ends"]
        axes, steps = node.attributes.get("axes"), None
    else:
        starts, ends, axes, steps = (ints(at(inputs, place)) for place in (1, 2, 3, 4))
        if len(inputs) > 3 and node.inputs[3] and axes is None:
            return plain((None,) * rank)
        if len(inputs) > 4 and node.inputs[4] and steps is None:
            steps = [0] * rank
    count = len(starts or ends or at(inputs, 1).shape or ())
    axes = [axis_of(stated_axis, rank) for stated_axis in (axes if axes is not None else range(count))]
    steps = steps or [1] * len(axes)
    dims = list(shape)
    if starts is None or ends is None or 0 in steps:
        for axis in axes:
            dims[axis] = None
        return plain(tuple(dims))
    cuts = [slice(None)] * rank
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=False):
        size = shape[axis]
        if size is None:
            dims[axis] = None
            continue
        # An end far below zero means "to the front" of a walk backwards.
        stop = None if step < 0 and end < -size else end
        cuts[axis] = slice(start, stop, step)
        dims[axis] = len(range(*cuts[axis].indices(size)))
    if inputs[0].data is not None:
        return [of_data(inputs[0].data[tuple(cuts)])]
    return plain(tuple(dims))


def _pad_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    pads = node.attributes.get("pads") or node.attributes.get("paddings") or ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    if pads is None:
        return plain((None,) * len(shape))
    padded_axes = ints(at(inputs, 3))
    axes = [axis_of(stated_axis, len(shape)) for stated_axis in padded_axes] if padded_axes else list(range(len(shape)))
    dims: list[int | None] = list(shape)
    for place, axis in enumerate(axes):
        before, after, size = pads[place], pads[place + len(axes)], shape[axis]
        if size is None:
            continue
        if node.attributes.get("mode") == "reflect" and max(before, after) >= size:
            raise Conflict(
                ConstraintCode.REFLECTED_PADDING,
                (size, max(before, after) + 1),
                axis=axis,
                size=size,
                padding=max(before, after),
            )
        dims[axis] = size + before + after
        if size + before + after < 0:
            raise Conflict(ConstraintCode.NEGATIVE_PADDING, axis=axis, size=size, before=before, after=after)
    ends = dict(zip(axes, pads[len(axes) :], strict=False))
    return [Value(tuple(dims), padded=max(0, ends.get(len(shape) - 1, 0)))]


def _cropped_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, sizes = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    axes = stated(node.attributes, "axes", range(len(shape)))
    dims: list[int | None] = list(shape)
    for place, axis in enumerate(axes):
        dims[axis] = None if sizes is None else sizes[place]
    return plain(tuple(dims))


def _slice_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape or (1,)
    axes = inputs[3].data if len(inputs) > 3 and node.inputs[3] else None
    chosen = [int(axis) for axis in axes.reshape(-1)] if axes is not None else list(range(len(shape)))
    sizes = [shape[axis] for axis in chosen if -len(shape) <= axis < len(shape)]
    least = min((size for size in sizes if size is not None), default=1)
    fixed = inputs[1].data if len(inputs) > 1 else None
    start = (
        max((int(number) for number in fixed.reshape(-1)), default=0) if fixed is not None else max(least // 2 - 1, 0)
    )
    yield 1, Need(0, max(least // 2 - 1, 0), COUNT)
    yield 2, Need(min(start + 1, least), least, COUNT)
    count = size_of(inputs, 1, 0) or 1
    yield 3, first_axes(count)
    yield 4, Need(1, 1, COUNT)


def _pad_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    shape = inputs[0].shape
    ends: tuple[float, ...] = ()
    if node.attributes.get("mode", "constant") != "constant" and shape is not None and None not in shape:
        # What is reflected is longer than its border.
        ends = tuple(float((size or 0) > 1) for size in shape) * 2
    yield 1, Need(0, 1, COUNT, exact=ends)
    yield 3, first_axes(size_of(inputs, 3, 0) or 1)


def _split_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    size, count = size_of(inputs, 0, node.attributes.get("axis", 0)), len(node.outputs)
    if size is not None and count:
        parts = [float(size // count)] * (count - 1)
        yield 1, Need(1, size, COUNT, exact=(*parts, size - sum(parts)))


def _own_shape_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    """The sizes that it has."""
    shape = inputs[0].shape or ()
    if None in shape:
        return
    sizes = [float(size or 0) for size in shape]
    axes = stated(node.attributes, "axes", range(len(sizes)))
    yield 1, Need(1, inf, COUNT, exact=tuple(sizes[axis] for axis in axes))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "Concat",
        moves=True,
        order="joined",
        reference="old_forms",
        batched=_concat_rows,
        shape=_concat_shape,
        carries=every_input,
        free=True,
        mutations={"swap-parts"},
    ),
    *alike(
        "Split",
        moves=True,
        steers=(1,),
        order="joined",
        reference="old_forms",
        batched=along_axis(0),
        shape=_split_shape,
        ranges=_split_ranges,
        carries=first_input,
        free=True,
        mutations={"swap-parts"},
    ),
    *alike(
        "Slice",
        moves=True,
        steers=(1, 2, 3, 4),
        order="joined",
        batched=_slice_rows,
        shape=_slice_shape,
        ranges=_slice_ranges,
        carries=first_input,
        free=True,
        mutations={"slice-off-by-one"},
    ),
    *alike(
        "Pad",
        moves=True,
        steers=(1, 3),
        order="joined",
        kernel=_pad_kernel,
        takes_halves=True,
        batched=_pad_rows,
        shape=_pad_shape,
        ranges=_pad_ranges,
        carries=first_input,
        free=True,
        mutations={"pad-value", "pad-mode"},
    ),
    *alike("CenterCropPad", moves=True, steers=(1,), shape=_cropped_shape, ranges=_own_shape_ranges),
)
