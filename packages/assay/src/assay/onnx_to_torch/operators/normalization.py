"""Normalizations. Statistics are taken in float32 where the standard says so (stash_type)."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("BatchNormalization")
def batch_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Any:
    epsilon = node.get("epsilon", 1e-5)
    if not node.get("training_mode", 0):
        return functional.batch_norm(x, mean, variance, scale, bias, training=False, eps=epsilon)
    momentum = node.get("momentum", 0.9)
    axes = [0, *range(2, x.ndim)]
    now_mean, now_variance = torch.mean(x, axes), torch.var(x, axes, correction=0)
    y = functional.batch_norm(x, now_mean, now_variance, scale, bias, training=False, eps=epsilon)
    return (
        y,
        mean * momentum + now_mean * (1 - momentum),
        variance * momentum + now_variance * (1 - momentum),
    )


@operator("InstanceNormalization")
def instance_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    return functional.instance_norm(x, weight=scale, bias=bias, eps=node.get("epsilon", 1e-5))


@operator("LayerNormalization")
def layer_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Any:
    axis = node.get("axis", -1) % x.ndim
    epsilon = node.get("epsilon", 1e-5)
    shape = x.shape[axis:]
    fits = scale.shape == shape and (bias is None or bias.shape == shape) and scale.dtype == x.dtype
    if fits and not node.wants(1) and not node.wants(2):
        return functional.layer_norm(x, list(shape), scale, bias, epsilon)
    axes = list(range(axis, x.ndim))
    wide = _stashed(node, x)
    mean = torch.mean(wide, axes, keepdim=True)
    centred = wide - mean
    inverse = torch.rsqrt(torch.mean(centred * centred, axes, keepdim=True) + epsilon)
    y = (centred * inverse).to(x.dtype) * scale
    return (y if bias is None else y + bias), mean, inverse


@operator("RMSNormalization")
def rms_normalization(node: Node, x: Tensor, scale: Tensor) -> Tensor:
    axes = list(range(node.get("axis", -1) % x.ndim, x.ndim))
    wide = _stashed(node, x)
    inverse = torch.rsqrt(torch.mean(wide * wide, axes, keepdim=True) + node.get("epsilon", 1e-5))
    return (wide * inverse).to(x.dtype) * scale


def _stashed(node: Node, x: Tensor) -> Tensor:
    from assay.onnx_to_torch.dtypes import onnx_dtype

    kind = onnx_dtype(node.get("stash_type", 1))
    return x if x.dtype == torch.float64 else x.to(kind)


@operator("GroupNormalization")
def group_normalization(node: Node, x: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
    """Until opset 20 scale and bias are one number a group."""
    groups = node.get("num_groups")
    if scale.shape[0] != x.shape[1]:
        each = x.shape[1] // groups
        scale, bias = scale.repeat_interleave(each), bias.repeat_interleave(each)
    return functional.group_norm(x, groups, scale, bias, node.get("epsilon", 1e-5))


@operator("LRN")
def lrn(node: Node, x: Tensor) -> Tensor:
    """Over channels; an even size reaches one channel further up, as in ONNX."""
    size = node.get("size")
    squares = torch.movedim(x * x, 1, -1)
    low = (size - 1) // 2
    windows = functional.pad(squares, [low, size - 1 - low]).unfold(-1, size, 1).sum(-1)
    total = torch.movedim(windows, -1, 1)
    return x / (node.get("bias", 1.0) + node.get("alpha", 1e-4) / size * total) ** node.get("beta", 0.75)


@operator("MeanVarianceNormalization")
def mean_variance_normalization(node: Node, x: Tensor) -> Tensor:
    axes = node.get("axes", [0, 2, 3])
    centred = x - torch.mean(x, axes, keepdim=True)
    # The constant is that of the function in the standard.
    return centred / (torch.sqrt(torch.mean(centred * centred, axes, keepdim=True)) + 1e-9)


@operator("LpNormalization")
def lp_normalization(node: Node, x: Tensor) -> Tensor:
    """Rows of zeros stay zero."""
    norm = torch.linalg.vector_norm(x, node.get("p", 2), node.get("axis", -1), keepdim=True)
    return torch.where(norm == 0, torch.zeros_like(x), x / norm)
