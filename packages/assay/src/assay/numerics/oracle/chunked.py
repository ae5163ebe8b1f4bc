"""Large arrays part by part: several passes over what stays in the processor's cache take less time than over all of it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

AT_ONCE = 1 << 15
"""Numbers of a part."""


def in_chunks(shape: tuple[int, ...], other: tuple[int, ...] = ()) -> Iterator[Any]:
    """Indices of the first axis that cover it, for an array that meets one of shape `other`: all of it where that has an axis of
    its own there."""
    size = math.prod(shape)
    if size <= AT_ONCE or (len(other) == len(shape) and other[0] != 1):
        yield ...
        return
    step = max(1, AT_ONCE * shape[0] // size)
    for first in range(0, shape[0], step):
        yield slice(first, first + step)
