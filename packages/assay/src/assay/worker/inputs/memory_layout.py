"""Inputs as they lie in memory when an engine is fed: the same values, other strides."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.ports import Tensor


def with_layout(feed: Mapping[str, Tensor], layout: str) -> dict[str, Tensor]:
    """The same values; `layout` is that of `core.case.Inputs`. What has too few axes for it stays as it is."""
    if layout == "strided":
        return {name: _strided(array) for name, array in feed.items()}
    if layout == "channels-last":
        return {name: _channels_last(array) for name, array in feed.items()}
    return dict(feed)


def channels_last(feed: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The values of four or five axes with the second one innermost in memory; {} where there are none."""
    return with_layout(feed, "channels-last") if any(array.ndim in (4, 5) for array in feed.values()) else {}


def _channels_last(array: Tensor) -> Tensor:
    if array.ndim not in (4, 5):
        return array
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 1, -1)), -1, 1)


def _strided(array: Tensor) -> Tensor:
    """The first axis innermost, and beside each element one that is none: its neighbour's value, which is read where
    strides are taken for granted."""
    if not array.ndim:
        return array
    turned = array.T
    buffer = np.empty((*turned.shape[:-1], 2 * turned.shape[-1]), array.dtype)
    buffer[..., ::2] = turned
    buffer[..., 1::2] = turned[..., ::-1]
    return buffer[..., ::2].T
