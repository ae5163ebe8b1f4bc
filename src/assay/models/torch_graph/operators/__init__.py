"""One module a family; importing this package registers them all."""

from __future__ import annotations

from assay.models.torch_graph import host
from assay.models.torch_graph.operators import (
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
    recurrent,
    reductions,
    resize,
    sampling,
    sequences,
    shapes,
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
    "recurrent",
    "reductions",
    "resize",
    "sampling",
    "sequences",
    "shapes",
    "signal",
]
