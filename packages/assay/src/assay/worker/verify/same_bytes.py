"""Are two tensors the same in every bit? Cheap enough to be asked after each call."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.ports import Tensor

_SMALL_BYTES = 1 << 15
"""Up to here a copy of the bytes is cheaper than views of them."""


def same_bytes(tensor: Tensor | None, other: Tensor) -> bool:
    """Also in shape and type."""
    if tensor is None or tensor.shape != other.shape or tensor.dtype != other.dtype:
        return False
    if tensor.dtype == object:
        return bool(np.array_equal(tensor, other))
    if tensor.nbytes <= _SMALL_BYTES or not (tensor.flags.c_contiguous and other.flags.c_contiguous):
        return tensor.tobytes() == other.tobytes()
    left, right = tensor.reshape(-1).view(np.uint8), other.reshape(-1).view(np.uint8)
    even = left.size & ~7
    words = np.array_equal(left[:even].view(np.uint64), right[:even].view(np.uint64))
    return bool(words and np.array_equal(left[even:], right[even:]))


def same_answer(first: Mapping[str, Tensor], other: Mapping[str, Tensor], but: frozenset[str] = frozenset()) -> bool:
    """The same outputs with the same bytes, those in `but` apart."""
    if first.keys() != other.keys():
        return False
    return all(same_bytes(first[name], tensor) for name, tensor in other.items() if name not in but)


def distance(first: Mapping[str, Tensor], other: Mapping[str, Tensor], but: frozenset[str] = frozenset()) -> float:
    """How far an answer lies from `other`: the largest difference of an element, by the largest element of its output. Infinite
    where names, shapes or types differ, or one has NaN or infinity where the other has none."""
    names = [name for name in other if name not in but]
    if [name for name in first if name not in but] != names:
        return float("inf")
    return max((_apart(np.asarray(first[name]), np.asarray(other[name])) for name in names), default=0.0)


def _apart(tensor: Tensor, other: Tensor) -> float:
    if tensor.shape != other.shape or tensor.dtype != other.dtype:
        return float("inf")
    if tensor.dtype.kind not in "biufV" or tensor.dtype == object:
        return 0.0 if np.array_equal(tensor, other) else 1.0
    left, right = tensor.astype(np.float64), other.astype(np.float64)
    known = np.isfinite(right)
    if not np.array_equal(np.isfinite(left), known) or not np.array_equal(left[~known], right[~known], equal_nan=True):
        return float("inf")
    size = float(np.abs(right[known]).max(initial=0.0)) or 1.0
    return float(np.abs(left[known] - right[known]).max(initial=0.0)) / size
