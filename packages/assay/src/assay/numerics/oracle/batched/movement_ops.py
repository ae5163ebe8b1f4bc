"""Operators that move data, with an axis of rows before all others."""

from __future__ import annotations

import math

import numpy as np

from assay.numerics.oracle.batched.operator import Lift, Operator, behind
from assay.numerics.oracle.hooks import Values


def _axes(one: Operator, position: int) -> list[int] | None:
    """From an attribute, or an input, of that place."""
    given = one.attribute("axes")
    if given is None and len(one.inputs) > position and one.inputs[position] is not None:
        given = one.inputs[position]
    return None if given is None else [int(axis) for axis in np.asarray(given).reshape(-1)]


def _reshape(one: Operator) -> Values | None:
    if not one.only(0) or len(one.inputs) < 2:
        return None
    shape, given = one.shape(0), [int(size) for size in one.inputs[1]]
    if min(given, default=0) < -1:
        return None
    if not one.attribute("allowzero"):
        given = [shape[place] if size == 0 else size for place, size in enumerate(given)]
    if -1 in given:
        known = math.prod(size for size in given if size != -1)
        if not known:
            return None
        given[given.index(-1)] = math.prod(shape) // known
    return (one.inputs[0].reshape(one.count, *given),)


def _flatten(one: Operator) -> Values | None:
    shape, axis = one.shape(0), int(one.attribute("axis", 1))
    axis = axis + len(shape) if axis < 0 else axis
    return (one.inputs[0].reshape(one.count, math.prod(shape[:axis]), math.prod(shape[axis:])),)


def _squeeze(one: Operator) -> Values | None:
    if not one.only(0):
        return None
    axes = _axes(one, 1)
    if axes is None:
        axes = [place for place, size in enumerate(one.shape(0)) if size == 1]
    return (np.squeeze(one.inputs[0], tuple(behind(axis) for axis in axes)),)


def _unsqueeze(one: Operator) -> Values | None:
    axes = _axes(one, 1)
    if not one.only(0) or axes is None:
        return None
    return (np.expand_dims(one.inputs[0], tuple(behind(axis) for axis in axes)),)


def _transpose(one: Operator) -> Values | None:
    order = one.attribute("perm")
    order = range(len(one.shape(0)))[::-1] if order is None or not len(order) else order
    return (np.transpose(one.inputs[0], (0, *(behind(int(axis)) for axis in order))),)


def _expand(one: Operator) -> Values | None:
    if not one.only(0):
        return None
    wanted = np.broadcast_shapes(one.shape(0), tuple(int(size) for size in one.inputs[1]))
    return (np.broadcast_to(one.aligned(len(wanted))[0], (one.count, *wanted)),)


def _tile(one: Operator) -> Values | None:
    if not one.only(0) or len(one.inputs) != 2:
        return None
    return (np.tile(one.inputs[0], (1, *(int(times) for times in one.inputs[1]))),)


def _slice(one: Operator) -> Values | None:
    if not one.only(0) or len(one.inputs) < 3:
        return None
    starts = np.asarray(one.inputs[1]).reshape(-1)
    axes = _axes(one, 3)
    moved = np.asarray([behind(axis) for axis in (range(len(starts)) if axes is None else axes)], np.int64)
    return one.run(*one.inputs[:3], moved, *one.inputs[4:])


def _pad(one: Operator) -> Values | None:
    if not one.only(0) or len(one.inputs) < 2:
        return None
    pads, axes = np.asarray(one.inputs[1]).reshape(-1), _axes(one, 3)
    if axes is not None:
        return one.run(*one.inputs[:3], np.asarray([behind(axis) for axis in axes], np.int64))
    half = len(pads) // 2
    moved = np.concatenate([[0], pads[:half], [0], pads[half:]]).astype(np.int64)
    return one.run(one.inputs[0], moved, *one.inputs[2:])


def _concat(one: Operator) -> Values | None:
    if any(not one.shape(position) for position in range(len(one.inputs))):
        return None
    rows = [one.rows(position) for position in range(len(one.inputs))]
    return (np.concatenate(rows, behind(int(one.attribute("axis", 0)))),)


def _gather(one: Operator) -> Values | None:
    if not one.only(0):
        return None
    return (np.take(one.inputs[0], np.asarray(one.inputs[1]).astype(np.int64), behind(int(one.attribute("axis", 0)))),)


def along_axis(default: int) -> Lift:
    """Those that only need to be told of another axis; further inputs are as they were."""

    def lift(one: Operator) -> Values | None:
        return one.run(*one.inputs, axis=behind(int(one.attribute("axis", default)))) if one.only(0) else None

    return lift


def in_batch(one: Operator) -> Values | None:
    """Those that treat what lies along their first axis alike: all rows as one batch."""
    x = one.rows(0)
    if not one.only(0) or x.ndim < 3 or len(one.call.outputs) > 1:
        return None
    found = one.run(x.reshape(one.count * x.shape[1], *x.shape[2:]), *one.inputs[1:])
    return tuple(value.reshape(one.count, x.shape[1], *value.shape[1:]) for value in found)


MOVING: dict[str, Lift] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": _transpose,
    "Expand": _expand,
    "Tile": _tile,
    "Slice": _slice,
    "Pad": _pad,
    "Concat": _concat,
    "Gather": _gather,
    "Split": along_axis(0),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth", "MaxPool", "GlobalMaxPool"), in_batch),
}
