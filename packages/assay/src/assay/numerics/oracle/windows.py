"""Where a sliding window stands: kernel, strides, dilations, padding and output size of convolution and pooling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.numerics.attributes import auto_pad_of, stated
from assay.numerics.shapes.constraints import Conflict
from assay.ports import Tensor

Block = tuple[tuple[int, ...], tuple[int, ...]]
"""A part of the output: where it begins and how many there are, one entry per spatial axis."""


@dataclass(frozen=True)
class Window:
    """All tuples have one entry per spatial axis. `slack` is what rounding up adds behind the padding at the end."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    end: tuple[int, ...]
    slack: tuple[int, ...]
    out: tuple[int, ...]

    def positions(self, part: Block | None = None) -> Iterator[tuple[Any, Any]]:
        """Every offset in the kernel as an index of the weights, with the index of the padded input that meets it: one
        element per output position, or per position of a part of the output. Both leave the axes before the spatial ones as
        they are."""
        first, out = part or ((0,) * len(self.out), self.out)
        skipped = [start * stride for start, stride in zip(first, self.strides, strict=True)]
        for offset in np.ndindex(*self.kernel):
            begins = (b + o * d for b, o, d in zip(skipped, offset, self.dilations, strict=True))
            rows = zip(begins, self.strides, out, strict=True)
            yield (..., *offset), (..., *(slice(b, b + (n - 1) * s + 1, s) for b, s, n in rows))

    def blocks(self, most: int) -> Iterator[Block]:
        """Parts of the output in their order, each without a gap, of `most` positions or little more: some lines, or, where one is
        too long, some lines of one."""
        axis = 0
        while axis < len(self.out) - 1 and math.prod(self.out[axis + 1 :]) > most:
            axis += 1
        step = max(1, most // max(1, math.prod(self.out[axis + 1 :])))
        for outer in np.ndindex(*self.out[:axis]):
            for first in range(0, self.out[axis], step):
                begin = (*outer, first, *[0] * (len(self.out) - axis - 1))
                yield begin, (*[1] * axis, min(step, self.out[axis] - first), *self.out[axis + 1 :])

    def pad(self, x: Tensor, value: float | int) -> Tensor:
        """`x` (batch, channel, spatial ...) with `value` around it, the slack included; `x` itself where there is nothing around."""
        ends = [last + slack for last, slack in zip(self.end, self.slack, strict=True)]
        if not any(self.begin) and not any(ends):
            return x
        rows = list(zip(self.begin, x.shape[2:], ends, strict=True))
        padded: Tensor = np.empty((*x.shape[:2], *(sum(row) for row in rows)), x.dtype)
        for axis, (first, size, _) in enumerate(rows, 2):
            ahead: tuple[slice, ...] = (slice(None),) * axis
            padded[(*ahead, slice(first))] = value
            padded[(*ahead, slice(first + size, None))] = value
        inside: Any = (..., *(slice(first, first + size) for first, size, _ in rows))
        padded[inside] = x
        return padded


def window_of(size: Sequence[int], kernel: Sequence[int], attributes: Mapping[str, Any]) -> Window:
    """From the ONNX attributes strides, dilations, pads, auto_pad and ceil_mode, absent ones at their defaults.

    Raises Conflict where the window does not fit into the padded input.
    """
    axes = len(size)
    strides = tuple(stated(attributes, "strides", [1] * axes))
    dilations = tuple(stated(attributes, "dilations", [1] * axes))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    auto_pad = auto_pad_of(attributes)
    begin, end = _padding(auto_pad, size, spans, strides, stated(attributes, "pads", [0] * (2 * axes)))
    out, slack = [], []
    for n, span, stride, first, last in zip(size, spans, strides, begin, end, strict=True):
        count = _count(n + first + last - span, stride, n + first, bool(attributes.get("ceil_mode")))
        if count < 1:
            raise Conflict(ConstraintCode.WINDOW, window=span, size=n, padding=first + last)
        out.append(count)
        slack.append(max(0, (count - 1) * stride + span - (n + first + last)))
    return Window(tuple(kernel), strides, dilations, begin, end, tuple(slack), tuple(out))


def _padding(
    auto_pad: str, size: Sequence[int], spans: Sequence[int], strides: Sequence[int], pads: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    axes = len(size)
    if auto_pad == "NOTSET":
        return tuple(pads[:axes]), tuple(pads[axes:])
    if auto_pad == "VALID":
        return (0,) * axes, (0,) * axes
    totals = [max(0, (math.ceil(n / s) - 1) * s + span - n) for n, s, span in zip(size, strides, spans, strict=True)]
    small, large = tuple(t // 2 for t in totals), tuple(t - t // 2 for t in totals)
    return (small, large) if auto_pad == "SAME_UPPER" else (large, small)


def _count(room: int, stride: int, before_end_padding: int, ceil_mode: bool) -> int:
    if not ceil_mode:
        return room // stride + 1
    count = math.ceil(room / stride) + 1
    # The last window must start inside the input or the padding before it.
    return count - 1 if (count - 1) * stride >= before_end_padding else count


def averaged(x: Tensor, attributes: Mapping[str, Any]) -> Tensor:
    """How many numbers each mean of AveragePool is of, for every window."""
    return averaged_under(window_of(x.shape[2:], attributes["kernel_shape"], attributes), x.shape[2:], attributes)


def averaged_under(window: Window, size: tuple[int, ...], attributes: Mapping[str, Any]) -> Tensor:
    """The same of windows that are known, over an image of that size."""
    inside = np.ones((1, 1, *size))
    if attributes.get("count_include_pad"):
        padded_size = (n + b + e for n, b, e in zip(size, window.begin, window.end, strict=True))
        inside = np.pad(np.ones((1, 1, *padded_size)), [(0, 0), (0, 0), *((0, s) for s in window.slack)])
    else:
        inside = window.pad(inside, 0)
    count = np.zeros((1, 1, *window.out))
    for _, where in window.positions():
        count += inside[where]
    return count
