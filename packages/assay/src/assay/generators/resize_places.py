"""Where Resize chooses the nearest element by a place that no rounding may touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.ports import Tensor

NEAR = 1e-4
"""Of an element: nearer to where the choice changes, the type in which the place is computed decides."""


def rounding_decides(node: Any, sizes: Sequence[int], resized: Sequence[int]) -> bool:
    """Of an engine's choice at any axis. A scale that float32 holds exactly leaves nothing open."""
    attributes = {attribute.name: attribute.s.decode() for attribute in node.attribute if attribute.s}
    if attributes.get("mode", "nearest") != "nearest":
        return False
    rule = attributes.get("nearest_mode", "round_prefer_floor")
    way = attributes.get("coordinate_transformation_mode", "half_pixel")
    for size, out in zip(sizes, resized, strict=True):
        if (
            size == out
            or not out
            or (float(np.float32(out / size)) * size == out and float(np.float32(size / out)) * out == size)
        ):
            continue
        places = _places(way, size, out)
        change = np.floor(places) + 0.5 if rule.startswith("round") else np.rint(places)
        if bool((np.abs(places - change) < NEAR).any()):
            return True
    return False


def _places(way: str, size: int, out: int) -> Tensor:
    at = np.arange(out, dtype=np.float64)
    if way == "align_corners":
        return at * (size - 1) / (out - 1) if out > 1 else at * 0.0
    if way == "asymmetric":
        return at * size / out
    if way == "pytorch_half_pixel" and out == 1:
        return at * 0.0
    return (at + 0.5) * size / out - 0.5
