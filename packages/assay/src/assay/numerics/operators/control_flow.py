"""Operators that evaluate graphs inside of them: the bodies are walked as far as they would be at run time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import stated
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, ints
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value


def _if_shape(node: Node, inputs: Inputs, walk: Walk) -> Sequence[Value]:
    known = inputs[0].data
    branches = [node.attributes["then_branch"], node.attributes["else_branch"]]
    if known is not None and known.size:
        return walk.enter(branches[0 if bool(known.reshape(-1)[0]) else 1])
    # Nobody knows which is taken: sizes that both take are preferred, and those of one are taken where there are none.
    taken_branches = [_tried(branch, walk) for branch in branches]
    return [_merged(first, other) for first, other in zip(*taken_branches, strict=False)]


def _tried(branch: Any, walk: Walk) -> Sequence[Value]:
    unmet = walk.unmet
    try:
        return walk.enter(branch)
    except Conflict:
        walk.unmet = unmet
        walk.untaken += 1
        return [UNKNOWN] * len(branch.outputs)


def _merged(value: Value, other: Value) -> Value:
    if value.shape is None or other.shape is None or len(value.shape) != len(other.shape):
        return UNKNOWN
    return Value(tuple(a if a == b else None for a, b in zip(value.shape, other.shape, strict=True)))


def _loop_shape(node: Node, inputs: Inputs, walk: Walk) -> Sequence[Value]:
    body: Any = node.attributes["body"]
    trips = ints(at(inputs, 0)) if node.inputs[0] else None
    count, carried = len(inputs) - 2, [Value(value.shape) for value in inputs[2:]]
    if trips is not None and trips and trips[0] <= 0:
        return [*inputs[2:], *[UNKNOWN] * (len(node.outputs) - count)]
    first = [Value((), np.array(0, np.int64)), Value((), np.array(True)), *inputs[2:]]
    values = walk.enter(body, first)
    if any(a.shape != b.shape for a, b in zip(values[1:], carried, strict=False)) and trips != [1]:
        carried = [_merged(a, b) for a, b in zip(values[1:], carried, strict=False)]
        unmet = walk.unmet
        try:
            values = walk.enter(body, [Value(()), Value(()), *carried])
        except Conflict:
            walk.unmet, values = unmet, [UNKNOWN] * len(body.outputs)
    ends = [Value(value.shape) for value in values[1 : 1 + count]]
    unbounded = (len(node.inputs) > 1 and node.inputs[1]) or trips is None
    stacked = [_stacked(value, None if unbounded or trips is None else trips[0]) for value in values[1 + count :]]
    return [*ends, *stacked]


def _stacked(value: Value, trips: int | None) -> Value:
    return UNKNOWN if value.shape is None else Value((trips, *value.shape))


def _scan_shape(node: Node, inputs: Inputs, walk: Walk) -> Sequence[Value]:
    body: Any = node.attributes["body"]
    if walk.opset < 9:
        return [UNKNOWN] * len(node.outputs)
    scanned = node.attributes["num_scan_inputs"]
    states, sequences = list(inputs[: len(inputs) - scanned]), inputs[len(inputs) - scanned :]
    axes = stated(node.attributes, "scan_input_axes", [0] * scanned)
    steps: int | None = None
    slices = []
    for sequence, axis in zip(sequences, axes, strict=True):
        if sequence.shape is None:
            slices.append(UNKNOWN)
            continue
        axis %= len(sequence.shape)
        if steps is not None and sequence.shape[axis] is not None and steps != sequence.shape[axis]:
            raise Conflict(
                ConstraintCode.SCANNED_STEPS,
                (steps, sequence.shape[axis] or 0),
                one=steps,
                other=sequence.shape[axis] or 0,
            )
        steps = sequence.shape[axis] if steps is None else steps
        slices.append(Value((*sequence.shape[:axis], *sequence.shape[axis + 1 :])))
    values = walk.enter(body, [*(Value(state.shape) for state in states), *slices])
    outputs = values[len(states) :]
    placed = stated(node.attributes, "scan_output_axes", [0] * len(outputs))
    return [
        *values[: len(states)],
        *(_inserted(output, axis, steps) for output, axis in zip(outputs, placed, strict=True)),
    ]


def _inserted(value: Value, axis: int, steps: int | None) -> Value:
    if value.shape is None:
        return UNKNOWN
    axis %= len(value.shape) + 1
    return Value((*value.shape[:axis], steps, *value.shape[axis:]))


MOST_TRIPS = 4


def _loop_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 0, Need(1, MOST_TRIPS, COUNT)
    yield 1, Need(1, 1, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("If", jumps=True, shape=_if_shape),
    *alike("Loop", jumps=True, reference="control", shape=_loop_shape, ranges=_loop_ranges),
    *alike("Scan", jumps=True, reference="control", shape=_scan_shape),
)
