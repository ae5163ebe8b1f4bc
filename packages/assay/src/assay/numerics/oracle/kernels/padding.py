"""Padding by negative numbers, which take elements away (ONNX Pad-25); onnx.reference 1.23 refuses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.numerics.oracle.hooks import Call, Kernel, Values


def _pad(call: Call) -> Values | None:
    """What is taken away goes first: the edge, or what is reflected, is that of what is left."""
    x = call.inputs[0]
    named = call.attributes.get("pads") if call.version > 1 else call.attributes.get("paddings")
    pads = np.asarray(call.input(1) if named is None else named, np.int64).reshape(-1)
    if not np.any(pads < 0):
        return None
    axes = range(x.ndim) if call.input(3) is None else [int(one) for one in np.asarray(call.input(3)).reshape(-1)]
    if len(pads) != 2 * len(axes):
        return None
    around = [(0, 0)] * x.ndim
    kept = [slice(None)] * x.ndim
    for axis, begin, end in zip(axes, pads[: len(axes)].tolist(), pads[len(axes) :].tolist(), strict=True):
        size = x.shape[axis]
        if size + min(begin, 0) + min(end, 0) < 0:
            raise ValueError(f"pads {begin} and {end} take more than the {size} elements of axis {axis} away")
        kept[axis] = slice(max(0, -begin), size + min(end, 0))
        around[axis] = max(0, begin), max(0, end)
    mode = call.attributes.get("mode") or "constant"
    how: Any = mode.decode() if isinstance(mode, bytes) else mode
    value = call.attributes.get("value") if named is not None else call.input(2)
    options: dict[str, Any] = {"constant_values": 0 if value is None else value} if how == "constant" else {}
    return (np.pad(x[tuple(kept)], around, mode=how, **options).astype(x.dtype, copy=False),)


PADDING: dict[str, Kernel] = {"Pad": _pad}
