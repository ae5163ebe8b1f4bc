"""Biases in float between quantized operands, which kernels in whole numbers round to the grid of the products that they add up.

A kernel of int8 accumulates in steps of scale(x) * scale(w), so a bias that the model stores in float is off by up to half such a
step there: the same error in every element of a channel. Source: ONNX Runtime's WeightBiasQuantization; TFLite's and TensorRT's
int8 specifications store biases so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from onnx import GraphProto, NodeProto

from assay.core.dtype import is_floating
from assay.numerics.operators.index import names_where
from assay.ports import Tensor, Tensors

_BIAS = 2
_BIASED = names_where(lambda record: record.contracted is not None and record.bias == _BIAS)


@dataclass(frozen=True)
class Bias:
    """A stored bias, and the names of the stored scales of what is multiplied before it is added."""

    name: str
    scales: tuple[str, str]


def between_grids(graph: GraphProto, types: Mapping[str, str], producers: Mapping[str, NodeProto]) -> tuple[Bias, ...]:
    """Those of a model whose operands come out of DequantizeLinear with stored scales."""
    stored = {tensor.name for tensor in graph.initializer}
    return tuple(_found(graph, types, producers, stored))


def _found(
    graph: GraphProto, types: Mapping[str, str], producers: Mapping[str, NodeProto], stored: set[str]
) -> Iterator[Bias]:
    for node in graph.node:
        if node.op_type not in _BIASED or len(node.input) <= _BIAS:
            continue
        grids = [producers.get(name) for name in node.input[:_BIAS]]
        scales = tuple(grid.input[1] for grid in grids if grid is not None and grid.op_type == "DequantizeLinear")
        bias = node.input[_BIAS]
        if len(scales) == _BIAS and stored.issuperset((bias, *scales)) and is_floating(types.get(bias, "")):
            yield Bias(bias, (scales[0], scales[1]))


def spread_on_grid(value: Tensor, bias: Bias, weights: Tensors) -> Tensor | None:
    """The standard deviation of a bias that is rounded to whole steps, like the bias: none where it is a whole number of them. None
    where the scales are of blocks."""
    step = math.prod((np.abs(weights[name]) for name in bias.scales), start=np.ones(1))
    if step.ndim > 1 or step.size not in (1, value.shape[-1] if value.ndim else 1):
        return None
    with np.errstate(all="ignore"):
        steps = value / step
    return np.where(np.rint(steps) == steps, 0.0, step / math.sqrt(12)).astype(value.dtype).reshape(value.shape)
