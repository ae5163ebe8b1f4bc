"""Activation functions and the softmax family."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor


@operator("Relu")
def relu(node: Node, x: Tensor) -> Tensor:
    return torch.relu(x)


@operator("Sigmoid")
def sigmoid(node: Node, x: Tensor) -> Tensor:
    return torch.sigmoid(x)


@operator("LeakyRelu")
def leaky_relu(node: Node, x: Tensor) -> Tensor:
    return functional.leaky_relu(x, node.get("alpha", 0.01))


@operator("PRelu")
def prelu(node: Node, x: Tensor, slope: Tensor) -> Tensor:
    return torch.where(x < 0, x * slope, x)


@operator("Elu")
def elu(node: Node, x: Tensor) -> Tensor:
    return functional.elu(x, node.get("alpha", 1.0))


@operator("Celu")
def celu(node: Node, x: Tensor) -> Tensor:
    return functional.celu(x, node.get("alpha", 1.0))


@operator("Selu")
def selu(node: Node, x: Tensor) -> Tensor:
    alpha = node.get("alpha", 1.67326319217681884765625)
    gamma = node.get("gamma", 1.05070102214813232421875)
    return torch.where(x > 0, gamma * x, gamma * (alpha * torch.exp(x) - alpha))


@operator("ThresholdedRelu")
def thresholded_relu(node: Node, x: Tensor) -> Tensor:
    return torch.where(x > node.get("alpha", 1.0), x, torch.zeros_like(x))


@operator("Softplus")
def softplus(node: Node, x: Tensor) -> Tensor:
    """log(exp(x) + 1) without the threshold of torch's own."""
    return torch.logaddexp(x, torch.zeros_like(x))


@operator("Softsign")
def softsign(node: Node, x: Tensor) -> Tensor:
    return functional.softsign(x)


@operator("HardSigmoid")
def hard_sigmoid(node: Node, x: Tensor) -> Tensor:
    return torch.clamp(node.get("alpha", 0.2) * x + node.get("beta", 0.5), 0, 1)


@operator("HardSwish")
def hard_swish(node: Node, x: Tensor) -> Tensor:
    return functional.hardswish(x)


@operator("Gelu")
def gelu(node: Node, x: Tensor) -> Tensor:
    return functional.gelu(x, approximate=node.get("approximate", "none"))


@operator("Mish")
def mish(node: Node, x: Tensor) -> Tensor:
    return functional.mish(x)


@operator("Swish")
def swish(node: Node, x: Tensor) -> Tensor:
    alpha = node.get("alpha", 1.0)
    return functional.silu(x) if alpha == 1.0 else x * torch.sigmoid(alpha * x)


@operator("Shrink")
def shrink(node: Node, x: Tensor) -> Tensor:
    limit, bias = node.get("lambd", 0.5), node.get("bias", 0.0)
    zero = torch.zeros_like(x)
    return torch.where(x < -limit, x + bias, torch.where(x > limit, x - bias, zero)).to(x.dtype)


@operator("Softmax")
def softmax(node: Node, x: Tensor) -> Tensor:
    return _over_axis(node, x, torch.softmax)


@operator("LogSoftmax")
def log_softmax(node: Node, x: Tensor) -> Tensor:
    return _over_axis(node, x, torch.log_softmax)


@operator("Hardmax")
def hardmax(node: Node, x: Tensor) -> Tensor:
    """1 at the first largest element, else 0."""

    def largest(x: Tensor, axis: int) -> Tensor:
        index = torch.argmax(x, axis, keepdim=True)
        return torch.zeros_like(x).scatter(axis, index, torch.ones_like(x))

    return _over_axis(node, x, largest)


def _over_axis(node: Node, x: Tensor, function: Any) -> Tensor:
    """Until opset 12 everything from the axis on counts as one dimension."""
    if node.opset >= 13:
        result: Tensor = function(x, node.get("axis", -1))
        return result
    axis = node.get("axis", 1) % max(x.ndim, 1)
    flat: Tensor = function(torch.flatten(x, axis), axis)
    return flat.reshape(x.shape)


@operator("Dropout")
def dropout(node: Node, x: Tensor, ratio: Any = None, training: Any = None) -> Any:
    """Inference: the input itself, and a mask of ones."""
    if training is not None and bool(torch.as_tensor(training).any()):
        raise node.unsupported(noted(ConversionCode.TRAINING_MODE))
    return x, torch.ones_like(x, dtype=torch.bool)
