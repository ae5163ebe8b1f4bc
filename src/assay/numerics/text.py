"""Outputs of text: equal or not, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.ports import Tensor


def differences(actual: Sequence[Tensor], expected: Sequence[Tensor]) -> list[tuple[int, str, str]]:
    """(position in the stream, expected, actual) of every element that differs. Bytes are read as UTF-8."""
    found: list[tuple[int, str, str]] = []
    start = 0
    for left, right in zip(actual, expected, strict=True):
        for at, (one, other) in enumerate(zip(left.reshape(-1).tolist(), right.reshape(-1).tolist(), strict=True)):
            if _plain(one) != _plain(other):
                found.append((start + at, _plain(other), _plain(one)))
        start += left.size
    return found


def _plain(value: Any) -> str:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes | np.bytes_) else str(value)
