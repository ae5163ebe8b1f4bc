"""A case whose equal numbers are told apart, in their order: what picks one of several is right then, whatever else the numbers are."""

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
    """Of equal numbers the first is the largest now. Whole numbers are further apart by as much as it takes. The same array where that
    cannot be."""
    places = np.arange(array.size).reshape(array.shape)
    if array.dtype.kind == "f":
        steps = np.diff(np.unique(array.astype(np.float64)))
        moved = array.astype(np.float64) - places * (steps.min(initial=1.0) * LITTLE / array.size)
    else:
        moved = array.astype(np.float64) * array.size + (array.size - 1 - places)
        info = np.iinfo(array.dtype)
        if moved.min() < info.min or moved.max() > info.max:
            return array
    apart = moved.astype(array.dtype)
    return array if has_ties(apart) else apart
