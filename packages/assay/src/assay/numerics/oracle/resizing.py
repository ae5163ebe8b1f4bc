"""Resize and Upsample as their texts of every opset have them: onnx.reference 1.23 knows those of today, and not all of them."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_resize import Resize as _Resize

from assay.numerics.attributes import NotComputed, stated
from assay.ports import Tensor


class Upsample(OpRun):
    """Sizes grow by scales: attributes before opset 9, an input since (Upsample-9; Resize in asymmetric coordinates, rounded
    down)."""

    op_domain = ""
    way, rounding = "asymmetric", "floor"

    def _run(
        self,
        x: Tensor,
        given: Tensor | None = None,
        mode: Any = None,
        scales: Any = None,
        height_scale: Any = None,
        width_scale: Any = None,
        **_: Any,
    ) -> tuple[Tensor]:
        factors = given if given is not None else scales
        if factors is None:
            factors = [1.0] * (x.ndim - 2) + [height_scale, width_scale]
        return (
            scaled(
                self,
                x,
                np.asarray(factors, np.float32),
                "linear" if mode in ("linear", "bilinear") else "nearest",
                self.way,
                self.rounding,
            ),
        )


class Resize(_Resize):
    """Resize-10 is asymmetric and rounds down; -11 also knows `tf_half_pixel_for_nn`, whose places are (x + 0.5) / scale."""

    op_domain = ""

    def _run(self, x: Tensor, *others: Any, **attributes: Any) -> tuple[Tensor, ...]:
        version: int = self.run_params["opsets"][self.onnx_node.domain]
        if x.dtype.kind == "b":
            return (self._run(x.astype(np.uint8), *others, **attributes)[0].astype(bool),)
        if version < 11:
            return (scaled(self, x, np.asarray(others[0]), stated(attributes, "mode", "nearest")),)
        others = tuple(None if other is None or not np.size(other) else other for other in others)
        if attributes.get("coordinate_transformation_mode") == "tf_half_pixel_for_nn":
            if attributes.get("mode") not in (None, "nearest"):
                raise NotComputed(coordinate_transformation_mode="tf_half_pixel_for_nn", mode=attributes.get("mode"))
            sizes = [] if len(others) < 3 or others[2] is None else np.asarray(others[2]).tolist()
            scales = [n / m for n, m in zip(sizes, x.shape, strict=True)] if sizes else np.asarray(others[1]).tolist()
            return (_nearest_of_tensorflow(x, scales, sizes, attributes.get("nearest_mode")),)
        if len(others) > 1 and others[1] is not None:
            axes = stated(attributes, "axes", range(x.ndim))
            others = (others[0], single(others[1], [x.shape[axis] for axis in axes]), *others[2:])
        x, others = _whole_lengths(x, others, attributes)
        arrays: tuple[Tensor, ...] = super()._run(x, *others, **attributes)
        return arrays


def _whole_lengths(x: Tensor, others: tuple[Any, ...], attributes: dict[str, Any]) -> tuple[Tensor, tuple[Any, ...]]:
    """Of two ways that onnx.reference 1.23 computes otherwise than the text of Resize-19: `tf_crop_and_resize` goes by the length of the
    answer, which is whole, and `pytorch_half_pixel` takes the first element for a length of 1."""
    way, (roi, scales, sizes) = attributes.get("coordinate_transformation_mode"), (*others, None, None, None)[:3]
    stretched = attributes.get("keep_aspect_ratio_policy") in (None, "stretch")
    if way not in ("tf_crop_and_resize", "pytorch_half_pixel") or not stretched:
        return x, others
    axes = stated(attributes, "axes", range(x.ndim))
    if sizes is None:
        sizes = np.array([int(x.shape[axis] * scale) for axis, scale in zip(axes, scales, strict=True)], np.int64)
        if way == "tf_crop_and_resize":
            return x, (roi, None, sizes)
        scales = np.array(scales)
    for place, axis in enumerate(axes):
        if way == "pytorch_half_pixel" and sizes[place] == 1 < x.shape[axis]:
            x = np.take(x, [0], axis)
            if scales is not None:
                scales[place] = 1
    return x, (roi, scales, None if scales is not None else sizes)


def single(scales: Tensor, shape: Sequence[int]) -> Tensor:
    """Scales are float32: 1.4 of them times 5 is 7 there, and 6.9999999 in double, which would be cut to 6."""
    sizes = np.asarray(shape, np.float32)
    narrow = np.asarray(scales, np.float32) * sizes
    wide = np.asarray(scales, np.float64) * sizes
    with np.errstate(all="ignore"):
        return np.where(np.floor(narrow) == np.floor(wide), scales, np.floor(narrow).astype(np.float64) / sizes)


def scaled(node: Any, x: Tensor, scales: Tensor, mode: str, way: str = "asymmetric", rounding: str = "floor") -> Tensor:
    """By scales alone, in one way to find places."""
    scales = single(scales, x.shape)
    answer: tuple[Tensor] = _Resize._run(
        node,
        x,
        None,
        scales,
        mode=mode,
        coordinate_transformation_mode=way,
        nearest_mode=rounding,
        keep_aspect_ratio_policy="stretch",
        cubic_coeff_a=-0.75,
        exclude_outside=0,
        extrapolation_value=0.0,
        antialias=0,
    )
    return answer[0].astype(x.dtype)


def _nearest_of_tensorflow(x: Tensor, scales: Sequence[float], sizes: Sequence[int], rounding: Any) -> Tensor:
    known: dict[str, Callable[[Tensor], Any]] = {
        "floor": np.floor,
        "ceil": np.ceil,
        "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    }
    how = known.get(rounding, lambda at: np.ceil(at - 0.5))
    for axis, scale in enumerate(scales):
        size = int(sizes[axis]) if len(sizes) else int(np.floor(x.shape[axis] * scale))
        at = (np.arange(size) + 0.5) / scale if scale != 1 else np.arange(size)
        x = np.take(x, np.clip(how(np.asarray(at)), 0, x.shape[axis] - 1).astype(np.int64), axis=axis)
    return x
