"""NonMaxSuppression."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.shapes.constraints import Inputs, Walk, at, equal, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.values import Node, Value

Array = np.ndarray[Any, Any]


def non_max_suppression(call: Call) -> Values:
    """Of each class of each picture, best first: boxes that overlap no better one by more than the limit."""
    boxes, scores, *limits = call.inputs
    most, overlap, least = (
        float(limit.reshape(-1)[0]) if limit is not None and limit.size else default
        for limit, default in zip([*limits, None, None, None][:3], (0.0, 0.0, -np.inf), strict=True)
    )
    corners = _corners(boxes, bool(call.attributes.get("center_point_box", 0)))
    boxes_kept = []
    for picture in range(scores.shape[0]):
        for kind in range(scores.shape[1]):
            kept: list[int] = []
            for place in np.argsort(-scores[picture, kind], kind="stable"):
                if len(kept) >= most or not scores[picture, kind, place] > least:
                    break
                if all(_shared(corners[picture, place], corners[picture, other]) <= overlap for other in kept):
                    kept.append(int(place))
            boxes_kept += [(picture, kind, place) for place in kept]
    return (np.array(boxes_kept, np.int64).reshape(-1, 3),)


def _corners(boxes: Array, centred: bool) -> Array:
    """Lower corner, then upper one, whichever way round they were written."""
    if centred:
        middle, half = boxes[..., :2], boxes[..., 2:] / 2
        return np.concatenate([middle - half, middle + half], -1)
    first, other = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.minimum(first, other), np.maximum(first, other)], -1)


def _shared(array: Array, other: Array) -> float:
    """Intersection over union; 0 of boxes without an area."""
    sides = np.minimum(array[2:], other[2:]) - np.maximum(array[:2], other[:2])
    inner = float(np.prod(np.maximum(sides, 0.0)))
    areas = float(np.prod(array[2:] - array[:2]) + np.prod(other[2:] - other[:2]))
    return inner / (areas - inner) if areas > inner else 0.0


def _suppression_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    boxes, scores = inputs[0].shape, at(inputs, 1).shape
    if boxes is not None and scores is not None:
        equal(boxes[0], scores[0], ConstraintCode.BOX_BATCHES)
        equal(boxes[1], scores[2], ConstraintCode.BOX_COUNTS)
        equal(boxes[2], 4, ConstraintCode.BOX_SIDES)
    return plain((None, 3))


def _suppression_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(0.0, 1.0)
    yield 1, Need(0.0, 1.0)
    yield 2, Need(1, 10, COUNT)
    yield 3, Need(0.3, 0.7, COUNT)
    yield 4, Need(0.0, 0.3, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "NonMaxSuppression",
        moves=True,
        steers=(2, 3, 4),
        jumps=True,
        decides="set",
        kernel=non_max_suppression,
        takes_halves=True,
        shape=_suppression_shape,
        ranges=_suppression_ranges,
    ),
)
