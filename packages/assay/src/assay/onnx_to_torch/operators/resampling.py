"""Resize and Upsample: torch's own where it is the same, else separable weights made from the standard's formulas."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.nn import functional

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import ints

Tensor = torch.Tensor


@operator("Upsample", host=(1,))
def upsample(node: Node, x: Tensor, scales: Any = None) -> Tensor:
    factors = node.get("scales") if scales is None else [float(number) for number in _floats(scales)]
    attributes = {
        "mode": node.get("mode", "nearest"),
        "coordinate_transformation_mode": "asymmetric",
        "nearest_mode": "floor",
    }
    inner = Node("Resize", "", node.name, 19, node.inputs, node.outputs, attributes)
    return _resized(inner, x, list(range(x.ndim)), factors, None, None)


@operator("Resize", host=(1, 2, 3))
def resize(node: Node, x: Tensor, roi: Any = None, scales: Any = None, sizes: Any = None) -> Tensor:
    if node.opset < 11:
        inner = Node(
            "Resize",
            "",
            node.name,
            19,
            node.inputs,
            node.outputs,
            {
                "mode": node.get("mode", "nearest"),
                "coordinate_transformation_mode": "asymmetric",
                "nearest_mode": "floor",
            },
        )
        return _resized(inner, x, list(range(x.ndim)), _floats(roi), None, None)
    axes = [axis % x.ndim for axis in node.get("axes", range(x.ndim))]
    factors = _floats(scales) if scales is not None and _count(scales) else None
    target = ints(sizes) if sizes is not None and _count(sizes) else None
    region = _floats(roi) if roi is not None and _count(roi) else None
    return _resized(node, x, axes, factors, target, region)


def _count(value: Any) -> int:
    return value.numel() if isinstance(value, Tensor) else value.size


def _floats(value: Any) -> list[Any]:
    return list(value.reshape(-1).tolist())


def _resized(
    node: Node,
    x: Tensor,
    axes: list[int],
    factors: list[Any] | None,
    target: list[Any] | None,
    region: list[Any] | None,
) -> Tensor:
    policy = node.get("keep_aspect_ratio_policy", "stretch")
    if target is not None and policy != "stretch":
        choose = min if policy == "not_larger" else max
        factor = choose(size / x.shape[axis] for axis, size in zip(axes, target, strict=True))
        factors = [factor] * len(axes)
        target = [math.floor(factor * x.shape[axis] + 0.5) for axis in axes]
    if target is None:
        if factors is None:
            raise node.unsupported(noted(ConversionCode.NO_SCALES_NO_SIZES))
        # The text takes the length of the region into it; onnx's shape inference and every implementation do not.
        target = [_floor(x.shape[axis] * factor) for axis, factor in zip(axes, factors, strict=True)]
    else:
        factors = [None] * len(axes) if factors is None else factors
    own = _by_torch(node, x, axes, factors, target)
    if own is not None:
        return own
    kind = x.dtype
    if not x.is_floating_point():
        x = x.to(torch.float32)
    for i, (axis, factor, size) in enumerate(zip(axes, factors, target, strict=True)):
        window = (region[i], region[i + len(axes)]) if region is not None else None
        if _same(size, x.shape[axis]) and factor in (None, 1.0) and window is None:
            continue
        x = _along(node, x, axis, factor, size, window)
    return x if x.dtype == kind else torch.round(x).to(kind) if node.get("mode", "nearest") != "nearest" else x.to(kind)


def _same(size: Any, other: Any) -> bool:
    return isinstance(size, int) and isinstance(other, int) and size == other


def _floor(value: Any) -> Any:
    if isinstance(value, float):
        return math.floor(value + 1e-9)
    return value if isinstance(value, int) else torch.sym_int(value)  # type: ignore[no-untyped-call]


def _by_torch(node: Node, x: Tensor, axes: list[int], factors: list[Any], target: list[Any]) -> Tensor | None:
    """torch.nn.functional.interpolate where its coordinates are the asked ones: backends know it."""
    mode = node.get("mode", "nearest")
    transform = node.get("coordinate_transformation_mode", "half_pixel")
    kept = {axis for axis, size in zip(axes, target, strict=True) if _is(size, x.shape[axis])}
    if x.ndim != 4 or not {0, 1} <= kept | (set(range(4)) - set(axes)) or node.get("antialias", 0):
        return None
    if not x.is_floating_point():
        return None
    sizes = [x.shape[2], x.shape[3]]
    whole = True
    for axis, size, factor in zip(axes, target, factors, strict=True):
        if axis >= 2:
            sizes[axis - 2] = size
            ratio_is_exact = factor is None or abs(factor - round(factor)) < 1e-12
            whole = whole and ratio_is_exact
    if mode == "linear" and transform == "align_corners" and whole:
        return functional.interpolate(x, size=sizes, mode="bilinear", align_corners=True)
    if mode == "linear" and transform in ("half_pixel", "pytorch_half_pixel") and whole:
        if transform == "pytorch_half_pixel" and any(isinstance(size, int) and size == 1 for size in sizes):
            return None
        return functional.interpolate(x, size=sizes, mode="bilinear", align_corners=False)
    if (
        mode == "nearest"
        and transform == "asymmetric"
        and node.get("nearest_mode", "round_prefer_floor") == "floor"
        and whole
    ):
        return functional.interpolate(x, size=sizes, mode="nearest")
    return None


def _is(size: Any, other: Any) -> bool:
    return size is other or bool(size == other)


def _along(node: Node, x: Tensor, axis: int, factor: float | None, size: Any, window: tuple[Any, Any] | None) -> Tensor:
    """One axis: a matrix of weights from outputs to inputs."""
    here = x.shape[axis]
    scale = size / here if factor is None else factor
    place = _coordinates(node, size, here, scale, window, x.device)
    mode = node.get("mode", "nearest")
    shrink = min(scale, 1.0) if node.get("antialias", 0) else 1.0
    if mode == "nearest":
        index = torch.clamp(_nearest(node.get("nearest_mode", "round_prefer_floor"), place), 0, here - 1)
        y = torch.index_select(x, axis, index.to(torch.int64))
    else:
        reach = (1.0 if mode == "linear" else 2.0) / shrink
        taps = torch.arange(-math.ceil(reach) + 1, math.ceil(reach) + 1, device=x.device, dtype=torch.float64)
        index = torch.floor(place)[:, None] + taps[None, :]
        distance = (place[:, None] - index) * shrink
        weight = _triangle(distance) if mode == "linear" else _cubic(distance, node.get("cubic_coeff_a", -0.75))
        inside = (index >= 0) & (index <= here - 1)
        if node.get("exclude_outside", 0):
            weight = weight * inside
        if node.get("exclude_outside", 0) or node.get("antialias", 0):
            weight = weight / weight.sum(1, keepdim=True)
        columns = torch.arange(here, device=x.device, dtype=torch.float64)
        hits = torch.clamp(index, 0, here - 1)[:, :, None] == columns
        matrix = (weight[:, :, None] * hits).sum(1).to(x.dtype)
        y = torch.movedim(torch.matmul(torch.movedim(x, axis, -1), matrix.t()), -1, axis)
    if window is not None and node.get("coordinate_transformation_mode") == "tf_crop_and_resize":
        outside = (place < 0) | (place > here - 1)
        shape = [1] * x.ndim
        shape[axis] = -1
        y = torch.where(outside.reshape(shape), torch.full_like(y, node.get("extrapolation_value", 0.0)), y)
    return y


def _coordinates(node: Node, size: Any, here: Any, scale: Any, window: Any, device: torch.device) -> Tensor:
    """Where each output lies in the input, in float64 pixels."""
    out = torch.arange(size, device=device, dtype=torch.float64)
    transform = node.get("coordinate_transformation_mode", "half_pixel")
    if transform == "half_pixel":
        return (out + 0.5) / scale - 0.5
    if transform == "half_pixel_symmetric":
        exact = here * scale
        adjustment = size / exact
        return here / 2 * (1 - adjustment) + (out + 0.5) / scale - 0.5
    if transform == "pytorch_half_pixel":
        return (out + 0.5) / scale - 0.5 if size > 1 else torch.zeros_like(out)
    if transform == "align_corners":
        length = here * scale
        return out * ((here - 1) / (length - 1)) if length > 1 else torch.zeros_like(out)
    if transform == "asymmetric":
        return out / scale
    if transform == "tf_crop_and_resize":
        start, end = window or (0.0, 1.0)
        if size > 1:
            return start * (here - 1) + out * ((end - start) * (here - 1) / (size - 1))
        return torch.full_like(out, 0.5 * (start + end) * (here - 1))
    if transform == "tf_half_pixel_for_nn":
        return (out + 0.5) / scale
    raise node.unsupported(noted(ConversionCode.COORDINATES, transformation=transform))


def _nearest(mode: str, place: Tensor) -> Tensor:
    if mode == "floor":
        return torch.floor(place)
    if mode == "ceil":
        return torch.ceil(place)
    if mode == "round_prefer_ceil":
        return torch.floor(place + 0.5)
    return torch.ceil(place - 0.5)


def _triangle(distance: Tensor) -> Tensor:
    return torch.clamp(1 - torch.abs(distance), min=0)


def _cubic(distance: Tensor, a: float) -> Tensor:
    """Keys, Cubic convolution interpolation for digital image processing, 1981."""
    d = torch.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return torch.where(d <= 1, near, torch.where(d < 2, far, torch.zeros_like(d)))
