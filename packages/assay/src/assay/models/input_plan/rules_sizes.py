"""Operators that read and make sizes: Shape, Reshape, Squeeze, Range, ConstantOfShape and their like."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from assay.models.input_plan.graph import UNKNOWN, Node, Value, of_data, product
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.shape_rules import Conflict, Inputs, at, axis_of, equal, ints, plain, rule, text


@rule("Shape")
def _shape(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return plain((None,))
    cut = shape[slice(node.attributes.get("start", 0), node.attributes.get("end"))]
    return [of_data(np.array(cut, np.int64))] if None not in cut else plain((len(cut),))


@rule("Size")
def _size(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    count = None if inputs[0].shape is None else product(inputs[0].shape)
    return plain(()) if count is None else [of_data(np.array(count, np.int64))]


@rule("Reshape")
def _reshape(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    wanted = node.attributes.get("shape") if len(inputs) < 2 else ints(inputs[1])
    if wanted is None:
        rank = (at(inputs, 1).shape or (None,))[0]
        return [UNKNOWN] if rank is None else plain((None,) * rank)
    sizes: list[int | None] = list(wanted)
    if not node.attributes.get("allowzero"):
        for place, size in enumerate(sizes):
            if size == 0:
                if shape is not None and place >= len(shape):
                    raise Conflict(f"{text(shape)} has no axis {place} to copy into {wanted}")
                sizes[place] = None if shape is None else shape[place]
    total = None if shape is None else product(shape)
    rest = product(one for one in sizes if one != -1)
    if sizes.count(-1) > 1:
        raise Conflict(f"{wanted} has more than one -1")
    if -1 in sizes:
        if total is None or rest is None:
            return plain(tuple(None if one == -1 else one for one in sizes))
        if total % rest if rest else total:
            raise Conflict(
                f"{text(shape or ())} has {total} elements, no multiple of the {rest} of {wanted}", (total, rest)
            )
        sizes[sizes.index(-1)] = total // rest if rest else 0
    elif total is not None and rest is not None and total != rest:
        raise Conflict(
            f"{text(shape or ())} has {total} elements, and {wanted} has {rest}", (total, rest), (rest, total)
        )
    if inputs[0].data is not None and None not in sizes:
        return [of_data(inputs[0].data.reshape([one or 0 for one in sizes]))]
    return plain(tuple(sizes))


@rule("Flatten")
def _flatten(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return plain((None, None))
    axis = node.attributes.get("axis", 1)
    axis = axis + len(shape) if axis < 0 else axis
    return plain((product(shape[:axis]), product(shape[axis:])))


def _axes(node: Node, inputs: Inputs) -> list[int] | None:
    return node.attributes.get("axes") if len(inputs) < 2 or not node.inputs[1] else ints(inputs[1])


@rule("Squeeze")
def _squeeze(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, axes = inputs[0].shape, _axes(node, inputs)
    if shape is None or (axes is None and len(inputs) > 1 and node.inputs[1]):
        return [UNKNOWN]
    if axes is None:
        if None in shape:
            return [UNKNOWN]
        dropped = {place for place, size in enumerate(shape) if size == 1}
    else:
        dropped = {axis_of(one, len(shape)) for one in axes}
        for axis in dropped:
            if shape[axis] not in (None, 1):
                raise Conflict(f"axis {axis} of {text(shape)} must be 1 to be dropped", (shape[axis] or 0, 1))
    dims = tuple(size for place, size in enumerate(shape) if place not in dropped)
    return [of_data(inputs[0].data.reshape([one or 0 for one in dims]))] if inputs[0].data is not None else plain(dims)


@rule("Unsqueeze")
def _unsqueeze(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, axes = inputs[0].shape, _axes(node, inputs)
    if shape is None or axes is None:
        return [UNKNOWN]
    rank = len(shape) + len(axes)
    added = {axis_of(one, rank) for one in axes}
    rest = iter(shape)
    dims = tuple(1 if place in added else next(rest) for place in range(rank))
    return [of_data(inputs[0].data.reshape([one or 0 for one in dims]))] if inputs[0].data is not None else plain(dims)


@rule("ConstantOfShape")
def _constant(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    sizes = ints(inputs[0])
    if sizes is None:
        rank = (inputs[0].shape or (None,))[0]
        return [UNKNOWN] if rank is None else plain((None,) * rank)
    if any(one < 0 for one in sizes):
        raise Conflict(f"{sizes} is no shape", *((one, 1) for one in sizes if one < 0))
    filled = node.attributes.get("value")
    data = filled.data if isinstance(filled, Value) and filled.data is not None else np.zeros(1, np.float32)
    small = int(np.prod(sizes, dtype=np.float64)) <= 4096
    return [of_data(np.full(sizes, data.reshape(-1)[0], data.dtype))] if small else plain(tuple(sizes))


@rule("Range")
def _range(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    if any(one.data is None for one in inputs):
        return plain((None,))
    start, limit, delta = (one.data.reshape(-1)[0] for one in inputs if one.data is not None)
    count = max(0, ceil((float(limit) - float(start)) / float(delta)))
    return [of_data(np.arange(count, dtype=start.dtype) * delta + start)] if count <= 4096 else plain((count,))


@rule("OneHot")
def _one_hot(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, depth = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes.get("axis", -1), len(shape) + 1)
    return plain((*shape[:axis], depth[0] if depth else None, *shape[axis:]))


@rule("EyeLike")
def _eye(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return plain(inputs[0].shape)


@rule("RandomNormal", "RandomUniform")
def _random(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return plain(tuple(node.attributes["shape"]))


@rule("TopK")
def _top(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN, UNKNOWN]
    axis = axis_of(node.attributes.get("axis", -1), len(shape))
    given = [node.attributes["k"]] if "k" in node.attributes else ints(at(inputs, 1))
    wanted, size = given[0] if given else None, shape[axis]
    if wanted is not None and size is not None and wanted > size:
        raise Conflict(f"the {wanted} largest of axis {axis} are wanted, which has {size}", (size, wanted))
    return [Value((*shape[:axis], wanted, *shape[axis + 1 :]))] * 2


@rule("Resize", "Upsample")
def _resize(node: Node, inputs: Inputs, scope: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    old = node.op == "Upsample" or scope.opset < 11
    scales = at(inputs, 1 if old else 2)
    factors = node.attributes.get("scales") or (
        None if scales.data is None else [float(one) for one in scales.data.reshape(-1)]
    )
    sizes = None if old else ints(at(inputs, 3))
    axes = [axis_of(one, len(shape)) for one in node.attributes.get("axes") or range(len(shape))]
    dims: list[int | None] = list(shape)
    given = sizes or factors
    if not given:
        return plain((None,) * len(shape))
    equal(len(given), len(axes), "the number of sizes and of axes")
    keep = node.attributes.get("keep_aspect_ratio_policy", "stretch") != "stretch"
    for axis, one in zip(axes, given, strict=True):
        size = shape[axis]
        dims[axis] = None if size is None or keep else int(one) if sizes else int(np.floor(size * one))
        if dims[axis] == 0 and size:
            raise Conflict(f"axis {axis} of size {size} is resized to nothing", (size, ceil(1 / one) if one else size))
    return plain(tuple(dims))
