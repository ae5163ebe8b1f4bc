"""One function an operator: arrays and attributes in, one array out. Sums are taken in the type `wide`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Attributes = Mapping[str, Any]
Operator = Callable[[Sequence[Array], Attributes, type], Array]


def _windows(x: Array, kernel: Sequence[int], attributes: Attributes, fill: float) -> Array:
    """N, C, rows, columns, kernel height, kernel width."""
    top, left, bottom, right = attributes.get("pads", (0, 0, 0, 0))
    down, along = attributes.get("strides", (1, 1))
    padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    seen = np.lib.stride_tricks.sliding_window_view(padded, tuple(kernel), axis=(2, 3))
    return seen[:, :, ::down, ::along]


def _conv(arrays: Sequence[Array], attributes: Attributes, wide: type) -> Array:
    x, weight = arrays[0].astype(wide), arrays[1].astype(wide)
    seen = _windows(x, weight.shape[2:], attributes, 0.0)
    y = np.einsum("nchwij,mcij->nmhw", seen, weight)
    return y + arrays[2].astype(wide)[:, None, None] if len(arrays) > 2 else y


def _max_pool(arrays: Sequence[Array], attributes: Attributes, _wide: type) -> Array:
    return _windows(arrays[0], attributes["kernel_shape"], attributes, -np.inf).max(axis=(4, 5))


def _gemm(arrays: Sequence[Array], attributes: Attributes, wide: type) -> Array:
    a, b = (array.astype(wide) for array in arrays[:2])
    product = (a.T if attributes.get("transA") else a) @ (b.T if attributes.get("transB") else b)
    y = attributes.get("alpha", 1.0) * product
    return y + attributes.get("beta", 1.0) * arrays[2].astype(wide) if len(arrays) > 2 else y


def _flatten(arrays: Sequence[Array], attributes: Attributes, _wide: type) -> Array:
    axis = attributes.get("axis", 1)
    shape = arrays[0].shape
    rows = int(np.prod(shape[:axis]))
    return arrays[0].reshape(rows, int(np.prod(shape[axis:])))


def _arg_max(arrays: Sequence[Array], attributes: Attributes, _wide: type) -> Array:
    return np.argmax(arrays[0], axis=attributes.get("axis", 0), keepdims=bool(attributes.get("keepdims", 1)))


OPERATORS: dict[str, Operator] = {
    "Add": lambda arrays, attributes, wide: arrays[0] + arrays[1],
    "ArgMax": _arg_max,
    "Conv": _conv,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "GlobalAveragePool": lambda arrays, attributes, wide: arrays[0].mean(axis=(2, 3), keepdims=True, dtype=wide),
    "Identity": lambda arrays, attributes, wide: arrays[0].copy(),
    "MatMul": lambda arrays, attributes, wide: arrays[0].astype(wide) @ arrays[1].astype(wide),
    "MaxPool": _max_pool,
    "Relu": lambda arrays, attributes, wide: np.maximum(arrays[0], 0),
}

DEFAULTS: dict[str, dict[str, Any]] = {
    "ArgMax": {"select_last_index": 0},
    "Conv": {"auto_pad": "NOTSET", "dilations": [1, 1], "group": 1},
    "MaxPool": {"auto_pad": "NOTSET", "dilations": [1, 1], "ceil_mode": 0, "storage_order": 0},
}
"""Attributes that these functions do not look at: any other value of one is refused, never ignored."""
