"""Tensors made from nothing but shapes and numbers. What is drawn at random cannot be compared and is not here."""

from __future__ import annotations

from typing import Any

import torch

from assay.onnx_to_torch.dtypes import from_numpy, onnx_dtype
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator
from assay.onnx_to_torch.values import ints, scalar

Tensor = torch.Tensor


@operator("ConstantOfShape", host=(0,))
def constant_of_shape(node: Node, shape: Any) -> Tensor:
    from onnx import numpy_helper

    value = node.get("value")
    fill = torch.zeros(1) if value is None else from_numpy(numpy_helper.to_array(value))
    return torch.full(ints(shape), fill.reshape(()).item(), dtype=fill.dtype)


@operator("Range", host=(0, 1, 2))
def range_(node: Node, start: Any, limit: Any, delta: Any) -> Tensor:
    """start + i * delta, ceil((limit - start) / delta) of them."""
    bounds = [scalar(bound) for bound in (start, limit, delta)]
    kinds = [bound.dtype if isinstance(bound, Tensor) else onnx_kind(bound) for bound in (start, limit, delta)]
    numbers = [bound.item() if isinstance(bound, Tensor) else bound for bound in bounds]
    return torch.arange(*numbers, dtype=kinds[0])


def onnx_kind(array: Any) -> torch.dtype:
    """The torch type of an array of numbers; symbolic ones are int64."""
    from assay.onnx_to_torch.dtypes import torch_dtype

    return torch.int64 if array.dtype == object else torch_dtype(array.dtype.name)


@operator("EyeLike")
def eye_like(node: Node, x: Tensor) -> Tensor:
    rows, columns = x.shape
    kind = onnx_dtype(node.get("dtype")) if node.get("dtype") else x.dtype
    i = torch.arange(rows, device=x.device)[:, None]
    j = torch.arange(columns, device=x.device)[None, :]
    return (j - i == node.get("k", 0)).to(kind)


@operator("HannWindow", "HammingWindow", "BlackmanWindow", host=(0,))
def window(node: Node, size: Any) -> Tensor:
    """Sums of cosines over size (periodic) or size - 1 (symmetric)."""
    (count,) = ints(size)
    weights = {
        "HannWindow": (0.5, 0.5, 0.0),
        "HammingWindow": (25 / 46, 21 / 46, 0.0),
        "BlackmanWindow": (0.42, 0.5, 0.08),
    }[node.operator]
    kind = onnx_dtype(node.get("output_datatype", 1))
    whole = count if node.get("periodic", 1) else count - 1
    angle = torch.arange(count, dtype=torch.float64) * (2 * torch.pi / whole)
    return (weights[0] - weights[1] * torch.cos(angle) + weights[2] * torch.cos(2 * angle)).to(kind)
