"""One module a family; importing this package registers them all."""

from __future__ import annotations

from assay.onnx_to_torch import host
from assay.onnx_to_torch.operators import (
    activations,
    attention,
    casts,
    control,
    convolution,
    creation,
    elementwise,
    indexing,
    linear,
    normalization,
    pooling,
    quantization,
    rearranging,
    recurrent,
    reductions,
    resampling,
    sampling,
    sequences,
    signal,
)

__all__ = [
    "activations",
    "attention",
    "casts",
    "control",
    "convolution",
    "creation",
    "elementwise",
    "host",
    "indexing",
    "linear",
    "normalization",
    "pooling",
    "quantization",
    "rearranging",
    "recurrent",
    "reductions",
    "resampling",
    "sampling",
    "sequences",
    "signal",
]
