"""Where Resize chooses the nearest element by a place that no rounding may touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx

from assay.ports import Tensor

NEAR = 1e-4
"""Of an element: nearer to where the choice changes, the type in which the place is computed decides."""


def rounding_decides(node: Any, sizes: Sequence[int], resized: Sequence[int]) -> bool:
    """Of an engine's choice at any axis. A scale that float32 holds exactly leaves nothing open."""
    given = {attribute.name: attribute.s.decode() for attribute in node.attribute if attribute.s}
    if given.get("mode", "nearest") != "nearest":
        return False
    rule = given.get("nearest_mode", "round_prefer_floor")
    way = given.get("coordinate_transformation_mode", "half_pixel")
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


def fractional_length(node: Any, values: Mapping[str, Tensor]) -> bool:
    """Whether places follow from a length of a result that a scale does not make whole. The text has two scales then: the one that is
    stated, or that keeps the aspect ratio, and length_resized / length_original."""
    given = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
    x = values.get(node.input[0])
    if given.get("coordinate_transformation_mode") == b"tf_crop_and_resize" or x is None:
        return False
    sizes = np.asarray([x.shape[axis] for axis in given.get("axes", range(x.ndim))])
    scales = values.get(node.input[2] if len(node.input) > 2 else node.input[-1])
    target = values.get(node.input[3]) if len(node.input) > 3 else None
    if target is not None and target.size == sizes.size and sizes.all():
        keeps = {b"not_larger": np.min, b"not_smaller": np.max}.get(given.get("keep_aspect_ratio_policy", b"stretch"))
        scales = np.full(sizes.size, keeps(target / sizes)) if keeps else None
    if scales is None or scales.size != sizes.size or scales.dtype.kind != "f":
        return False
    return bool((np.abs(sizes * scales - np.rint(sizes * scales)) > 1e-6).any())


def _places(way: str, size: int, out: int) -> Tensor:
    at = np.arange(out, dtype=np.float64)
    if way == "align_corners":
        return at * (size - 1) / (out - 1) if out > 1 else at * 0.0
    if way == "asymmetric":
        return at * size / out
    if way == "pytorch_half_pixel" and out == 1:
        return at * 0.0
    return (at + 0.5) * size / out - 0.5
