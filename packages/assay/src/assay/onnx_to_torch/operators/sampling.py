"""Reading images between their pixels."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import ints

Tensor = torch.Tensor

_MODES = {"linear": "bilinear", "bilinear": "bilinear", "nearest": "nearest", "cubic": "bicubic", "bicubic": "bicubic"}


@operator("GridSample")
def grid_sample(node: Node, x: Tensor, grid: Tensor) -> Tensor:
    return functional.grid_sample(
        x,
        grid,
        mode=_MODES[node.get("mode", "linear")],
        padding_mode=node.get("padding_mode", "zeros"),
        align_corners=bool(node.get("align_corners", 0)),
    )


@operator("AffineGrid", host=(1,))
def affine_grid(node: Node, theta: Tensor, size: Any) -> Tensor:
    return functional.affine_grid(theta, ints(size), align_corners=bool(node.get("align_corners", 0)))


def bilinear(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """[n, c, h, w] at [n, rows, columns], zeros outside: [n, c, rows, columns]."""
    height, width = image.shape[2:]
    y0, x0 = torch.floor(y), torch.floor(x)
    result = torch.zeros((), dtype=image.dtype, device=image.device)
    flat = image.reshape(*image.shape[:2], height * width)
    for row, part_y in ((y0, y0 + 1 - y), (y0 + 1, y - y0)):
        for column, part_x in ((x0, x0 + 1 - x), (x0 + 1, x - x0)):
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            index = torch.clamp(row, 0, height - 1) * width + torch.clamp(column, 0, width - 1)
            index = index.to(torch.int64).reshape(image.shape[0], 1, -1).expand(-1, image.shape[1], -1)
            values = torch.gather(flat, 2, index).reshape(*image.shape[:2], *y.shape[1:])
            result = result + values * (part_y * part_x * inside).unsqueeze(1)
    return result


@operator("RoiAlign")
def roi_align(node: Node, x: Tensor, rois: Tensor, batch: Tensor) -> Tensor:
    """Every bin is the mean (or largest) of a grid of bilinear samples."""
    height, width = node.get("output_height", 1), node.get("output_width", 1)
    ratio = node.get("sampling_ratio", 0)
    half = (
        node.get("coordinate_transformation_mode", "half_pixel" if node.opset >= 16 else "output_half_pixel")
        == "half_pixel"
    )
    boxes = rois * node.get("spatial_scale", 1.0) - (0.5 if half else 0.0)
    left, top, right, bottom = boxes.unbind(1)
    wide, high = right - left, bottom - top
    if not half:
        wide, high = torch.clamp(wide, min=1.0), torch.clamp(high, min=1.0)
    results = []
    for box in range(rois.shape[0]):
        count_y = ratio if ratio > 0 else int(torch.ceil(high[box] / height))
        count_x = ratio if ratio > 0 else int(torch.ceil(wide[box] / width))
        steps_y = (torch.arange(height * count_y, device=x.device) + 0.5) / count_y
        steps_x = (torch.arange(width * count_x, device=x.device) + 0.5) / count_x
        y = top[box] + steps_y * high[box] / height
        z = left[box] + steps_x * wide[box] / width
        points = _roi_samples(x[batch[box]], y, z, largest=node.get("mode", "avg") == "max")
        bins = points.reshape(-1, x.shape[1], height, count_y, width, count_x)
        if node.get("mode", "avg") == "max":
            results.append(torch.amax(bins, (0, 3, 5)))
        else:
            results.append(torch.mean(bins, (0, 3, 5)))
    if not results:
        return x.new_zeros(0, x.shape[1], height, width)
    return torch.stack(results)


def _roi_samples(image: Tensor, y: Tensor, x: Tensor, *, largest: bool) -> Tensor:
    """Samples more than one pixel outside are zero; others move to the border. For the mode `max` the four weighted
    neighbours are kept apart, as the standard does."""
    height, width = image.shape[1:]
    outside = ((y < -1) | (y > height))[:, None] | ((x < -1) | (x > width))[None, :]
    y, x = torch.clamp(y, 0, height - 1), torch.clamp(x, 0, width - 1)
    y0, x0 = torch.floor(y).to(torch.int64), torch.floor(x).to(torch.int64)
    y1, x1 = torch.clamp(y0 + 1, max=height - 1), torch.clamp(x0 + 1, max=width - 1)
    part_y, part_x = y - y0, x - x0
    corners = []
    for rows, weight_y in ((y0, 1 - part_y), (y1, part_y)):
        for columns, weight_x in ((x0, 1 - part_x), (x1, part_x)):
            values = image[:, rows][:, :, columns] * weight_y[:, None] * weight_x[None, :]
            corners.append(torch.where(outside, torch.zeros_like(values), values))
    stacked = torch.stack(corners)
    return stacked if largest else stacked.sum(0, keepdim=True)


@operator("MaxRoiPool")
def max_roi_pool(node: Node, x: Tensor, rois: Tensor) -> Tensor:
    height, width = node.get("pooled_shape")
    scale = node.get("spatial_scale", 1.0)
    results = []
    for roi in rois.tolist():
        batch = int(roi[0])
        left, top, right, bottom = (int(torch.round(torch.tensor(edge * scale))) for edge in roi[1:])
        high, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        cells = x.new_zeros(x.shape[1], height, width)
        for i in range(height):
            y0, y1 = _clip(top + i * high // height, x.shape[2]), _clip(top - (-(i + 1) * high // height), x.shape[2])
            for j in range(width):
                x0, x1 = (
                    _clip(left + j * wide // width, x.shape[3]),
                    _clip(left - (-(j + 1) * wide // width), x.shape[3]),
                )
                if y1 > y0 and x1 > x0:
                    cells[:, i, j] = torch.amax(x[batch, :, y0:y1, x0:x1], (1, 2))
        results.append(cells)
    return torch.stack(results) if results else x.new_zeros(0, x.shape[1], height, width)


def _clip(value: int, size: int) -> int:
    return min(max(value, 0), size)
