"""Operators that move elements: concatenate, slice, gather, transpose, expand, pad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.models.input_plan.graph import UNKNOWN, Dims, Node, Value, of_data
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.shape_rules import Conflict, Inputs, at, axis_of, broadcast, equal, ints, plain, rule


@rule("Concat")
def _concat(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shapes = [one.shape for one in inputs]
    known = [one for one in shapes if one is not None]
    if not known:
        return [UNKNOWN]
    rank = len(known[0])
    axis = axis_of(node.attributes.get("axis", 1), rank)
    data = [one.data for one in inputs if one.data is not None]
    if len(data) == len(inputs):
        return [of_data(np.concatenate([np.atleast_1d(one) for one in data], axis=axis))]
    dims: list[int | None] = list(known[0])
    for one in known[1:]:
        equal(rank, len(one), "the ranks of what is concatenated")
        for place in range(rank):
            if place != axis:
                dims[place] = equal(dims[place], one[place], f"sizes of axis {place} of what is concatenated")
    sizes = [one[axis] for one in known]
    dims[axis] = None if None in sizes or len(known) < len(shapes) else sum(one for one in sizes if one is not None)
    return plain(tuple(dims))


@rule("Split")
def _split(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    count = len(node.outputs)
    if shape is None:
        return [UNKNOWN] * count
    axis = axis_of(node.attributes.get("axis", 0), len(shape))
    size = shape[axis]
    given = node.attributes.get("split")
    parts: list[int | None]
    if len(inputs) > 1 and node.inputs[1]:
        given = ints(inputs[1])
        parts = [None] * count if given is None else list(given)
    elif given:
        parts = list(given)
    elif size is None:
        parts = [None] * count
    else:
        pieces = node.attributes.get("num_outputs", count)
        if size % pieces and "num_outputs" not in node.attributes:
            raise Conflict(
                f"axis {axis} of size {size} is split into {pieces} equal parts", (size, -(-size // pieces) * pieces)
            )
        each = -(-size // pieces)
        parts = [max(0, min(each, size - each * place)) for place in range(pieces)]
    if given and size is not None and sum(given) != size:
        raise Conflict(f"axis {axis} of size {size} is split into {list(given)}", (size, sum(given)))
    if inputs[0].data is not None and None not in parts:
        places = np.cumsum([one or 0 for one in parts])[:-1]
        return [of_data(one) for one in np.split(inputs[0].data, places, axis=axis)]
    return [Value((*shape[:axis], part, *shape[axis + 1 :])) for part in parts]


@rule("Slice")
def _slice(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
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
    axes = [axis_of(one, rank) for one in (axes if axes is not None else range(count))]
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


@rule("Gather")
def _gather(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, places = inputs[0].shape, at(inputs, 1)
    if shape is None or places.shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes.get("axis", 0), len(shape))
    size, wanted = shape[axis], ints(places)
    if size is not None and wanted and not all(-size <= one < size for one in wanted):
        raise Conflict(
            f"index {max(wanted, key=abs)} is outside of axis {axis} of size {size}", (size, max(wanted) + 1)
        )
    if inputs[0].data is not None and places.data is not None:
        return [of_data(np.asarray(np.take(inputs[0].data, places.data.astype(np.int64), axis=axis)))]
    return plain((*shape[:axis], *places.shape, *shape[axis + 1 :]))


@rule("GatherElements")
def _gather_elements(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    return plain(at(inputs, 1).shape)


@rule("GatherND")
def _gather_nd(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, places = inputs[0].shape, at(inputs, 1).shape
    if shape is None or not places or places[-1] is None:
        return [UNKNOWN]
    skipped = node.attributes.get("batch_dims", 0)
    return plain((*places[:-1], *shape[skipped + places[-1] :]))


@rule("Scatter", "ScatterElements", "ScatterND", "TensorScatter")
def _scatter(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    if node.op == "ScatterND" and all(one.data is not None for one in inputs) and "reduction" not in node.attributes:
        result = np.array(inputs[0].data)
        indices = inputs[1].data
        assert indices is not None
        for place in np.ndindex(indices.shape[:-1]):
            result[tuple(indices[place])] = inputs[2].data[place]  # type: ignore[index]
        return [of_data(result)]
    return plain(inputs[0].shape)


@rule("Transpose")
def _transpose(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    order = node.attributes.get("perm") or list(range(len(shape)))[::-1]
    equal(len(shape), len(order), "the rank and the length of perm")
    if inputs[0].data is not None:
        return [of_data(np.transpose(inputs[0].data, order))]
    return plain(tuple(shape[axis] for axis in order))


@rule("Expand")
def _expand(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    wanted = ints(at(inputs, 1))
    if wanted is None:
        length = (at(inputs, 1).shape or (None,))[0]
        known = inputs[0].shape
        return [UNKNOWN] if length is None or known is None else plain((None,) * max(length, len(known)))
    shape = broadcast((inputs[0].shape, tuple(wanted)))
    if inputs[0].data is not None and shape is not None and np.prod([one or 0 for one in shape]) <= 4096:
        return [of_data(np.broadcast_to(inputs[0].data, [one or 0 for one in shape]))]
    return plain(shape)


@rule("Tile")
def _tile(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, repeats = inputs[0].shape, ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    if repeats is None:
        return plain((None,) * len(shape))
    equal(len(shape), len(repeats), "the rank and the number of repeats")
    if inputs[0].data is not None:
        return [of_data(np.tile(inputs[0].data, repeats))]
    return plain(tuple(None if one is None else one * times for one, times in zip(shape, repeats, strict=True)))


@rule("Pad")
def _pad(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    pads = node.attributes.get("pads") or node.attributes.get("paddings") or ints(at(inputs, 1))
    if shape is None:
        return [UNKNOWN]
    if pads is None:
        return plain((None,) * len(shape))
    given = ints(at(inputs, 3))
    axes = [axis_of(one, len(shape)) for one in given] if given else list(range(len(shape)))
    dims: list[int | None] = list(shape)
    for place, axis in enumerate(axes):
        before, after, size = pads[place], pads[place + len(axes)], shape[axis]
        if size is None:
            continue
        if node.attributes.get("mode") == "reflect" and max(before, after) >= size:
            raise Conflict(
                f"axis {axis} of size {size} is padded by {max(before, after)} reflected elements",
                (size, max(before, after) + 1),
            )
        dims[axis] = size + before + after
        if size + before + after < 0:
            raise Conflict(f"axis {axis} of size {size} is padded by {before} and {after}")
    return plain(tuple(dims))


@rule("DepthToSpace", "SpaceToDepth")
def _depth(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None or None in shape:
        return [UNKNOWN] if shape is None else plain((None,) * len(shape))
    count, channels, height, width = (one or 0 for one in shape)
    block = node.attributes["blocksize"]
    if node.op == "DepthToSpace":
        _whole(channels, block * block, "the channels")
        return plain((count, channels // (block * block), height * block, width * block))
    _whole(height, block, "the height")
    _whole(width, block, "the width")
    return plain((count, channels * block * block, height // block, width // block))


def _whole(size: int, divisor: int, what: str) -> None:
    if size % divisor:
        raise Conflict(f"{what}, {size}, must be a multiple of {divisor}", (size, -(-size // divisor) * divisor))


@rule("Compress", "Unique", "NonZero")
def _counted(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if node.op == "NonZero":
        dims: Dims = (None if shape is None else max(len(shape), 1), None)
        return [of_data(np.array(np.nonzero(inputs[0].data)))] if inputs[0].data is not None else plain(dims)
    if "axis" not in node.attributes:
        return [Value((None,))] * max(1, len(node.outputs))
    if shape is None:
        return [UNKNOWN]
    axis = axis_of(node.attributes["axis"], len(shape))
    return [Value((*shape[:axis], None, *shape[axis + 1 :])), *([Value((None,))] * (len(node.outputs) - 1))]
