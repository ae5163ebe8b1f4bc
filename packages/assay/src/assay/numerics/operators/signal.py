"""Fourier transforms, and windows and filters for them."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.constraint import ConstraintCode
from assay.core.screening import Unspecified
from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, axis_of, ints, plain
from assay.numerics.shapes.needed_values import COUNT, Demands, Need
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.numerics.tolerance.rules.functions import window
from assay.numerics.tolerance.rules.rounding_rules import rounding
from assay.numerics.tolerance.rules.sums import transform


def _short_time_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, step, window = inputs[0].shape, ints(at(inputs, 1)), at(inputs, 2).shape
    length = ints(at(inputs, 3)) or (None if not window or window[0] is None else [window[0]])
    if shape is None or step is None or length is None or shape[1] is None:
        return [UNKNOWN]
    if shape[1] < length[0]:
        raise Conflict(ConstraintCode.FRAME, (shape[1], length[0]), frame=length[0], size=shape[1])
    bins = length[0] // 2 + 1 if node.attributes.get("onesided", 1) else length[0]
    return plain((shape[0], (shape[1] - length[0]) // step[0] + 1, bins, 2))


def _fourier_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape = inputs[0].shape
    length, written_axis = ints(at(inputs, 1)), ints(at(inputs, 2))
    if shape is None or (len(inputs) > 1 and node.inputs[1] and length is None):
        return [UNKNOWN]
    axis = axis_of(
        written_axis[0] if written_axis else node.attributes.get("axis", -2 if len(inputs) > 2 else 1), len(shape)
    )
    dims: list[int | None] = list(shape)
    size = length[0] if length else shape[axis]
    dims[axis] = None if size is None else size // 2 + 1 if node.attributes.get("onesided") else size
    dims[-1] = 1 if node.attributes.get("inverse") and node.attributes.get("onesided") else 2
    return plain(tuple(dims))


def _frames_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield (0 if node.op.endswith("Window") else 1), Need(4, 16, COUNT)


def _fourier_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, Need(8, 8, COUNT)
    yield 2, Need(1, 1, COUNT)


def _mel_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    for place, value in enumerate((4, 16, 8000, 0, 4000)):
        yield place, Need(value, value, COUNT)


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("DFT", rounding=transform, steers=(1, 2), shape=_fourier_shape, ranges=_fourier_ranges),
    *alike("STFT", reference="signals", rounding=transform, shape=_short_time_shape, ranges=_frames_ranges),
    *alike("MelWeightMatrix", rounding=rounding, ranges=_mel_ranges),
    *alike("HannWindow", rounding=window, ranges=_frames_ranges),
    *alike(
        "HammingWindow BlackmanWindow",
        rounding=window,
        ranges=_frames_ranges,
        readings=((Unspecified.WINDOW_NUMBERS, "other_windows"),),
    ),
)
