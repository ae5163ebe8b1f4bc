"""A case whose equal numbers are made different, in their order: what picks one of several is right then, whatever else the numbers are."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from assay.core.screening import UNTIED
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

LITTLE = 1e-2
"""Of the smallest step between two numbers: all equal ones together are moved by less."""


def untied(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """None where all numbers differ, or where a type does not hold what would."""
    inputs = {name: without_ties(array) if has_ties(array) else array for name, array in case.inputs.items()}
    if any(array is not case.inputs[name] for name, array in inputs.items()):
        yield UNTIED, dataclasses.replace(case, inputs=inputs)


def has_ties(array: Tensor) -> bool:
    """Whether two of its numbers are equal."""
    return array.dtype.kind in "fiu" and len(np.unique(array)) < array.size


def without_ties(array: Tensor) -> Tensor:
    """Of equal numbers the first is the largest now. They move away from 0, so that no sign changes and a zero stays; whole numbers that
    are in the way move as well, and no other number does. The same array where that cannot be."""
    order = np.lexsort(
        (-np.arange(array.size), array.reshape(-1))
    )  # from the smallest on, of equal ones the last first
    rising = array.reshape(-1)[order]
    stays = _that_stays(rising)
    if array.dtype.kind == "f":
        moved = _real(rising.astype(np.float64), stays)
    elif int(rising[-1]) + array.size > np.iinfo(np.int64).max:
        return array
    else:
        moved = _whole(rising.astype(np.int64), stays)
        info = np.iinfo(array.dtype)
        if moved[0] < info.min or moved[-1] > info.max:
            return array
    apart = np.empty_like(array).reshape(-1)
    apart[order] = moved
    return array if has_ties(apart) else apart.reshape(array.shape)


def _that_stays(rising: Tensor) -> int:
    """The place from which others move away, up and down: the last zero, or where it would be. The first where a type has nothing
    below 0."""
    if rising.dtype.kind == "u":
        return 0
    beyond = int(np.searchsorted(rising, 0, "right"))
    return beyond - int(beyond > 0 and not rising[beyond - 1])


def _real(rising: Tensor, stays: int) -> Tensor:
    """By less than what is between two different ones."""
    step = np.diff(np.unique(rising)).min(initial=1.0) * LITTLE / rising.size
    place = np.arange(rising.size)
    above = place - np.maximum(np.searchsorted(rising, rising, "left"), stays)
    below = np.searchsorted(rising, rising, "right") - 1 - place
    return np.asarray(np.where(place >= stays, rising + above * step, rising - below * step))


def _whole(rising: Tensor, stays: int) -> Tensor:
    """By as much as it takes."""
    free: Tensor = rising - np.arange(rising.size)
    free[stays:] = np.maximum.accumulate(free[stays:])
    free[: stays + 1] = np.minimum.accumulate(free[: stays + 1][::-1])[::-1]
    return np.asarray(free + np.arange(rising.size))
