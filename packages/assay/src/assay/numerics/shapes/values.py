"""What is known of a tensor of a graph, and an operator as plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Any

import numpy as np

LARGEST_CONSTANT = 4096
"""Elements of a constant whose values are looked at; of a larger one only the shape is."""

Array = np.ndarray[Any, Any]
Dims = tuple[int | None, ...]


class Value:
    """What is known of a tensor: its shape (None: not even the rank; a None inside: that size), and its values where they are
    few. `padded`: so many elements at the end of its last axis were added by a Pad."""

    __slots__ = ("data", "padded", "shape")

    def __init__(self, shape: Dims | None, data: Array | None = None, padded: int = 0) -> None:
        self.shape, self.data, self.padded = shape, data, padded

    def __repr__(self) -> str:
        return f"Value({self.shape}, {self.data})"


UNKNOWN = Value(None)


def of_data(array: Array) -> Value:
    """Values that are known, dropped again where they are many."""
    shape = array.shape
    return Value(shape, array if array.size <= LARGEST_CONSTANT else None)


@dataclass(frozen=True)
class Node:
    """One operator. `attributes` are numbers, texts, lists, arrays and `Graph`s; `domain` is "" for the standard's own."""

    op: str
    domain: str
    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def label(self) -> str:
        """How it is named to people."""
        return self.name or f"{self.op} -> {next((output for output in self.outputs if output), '')}"


def product(sizes: Iterable[int | None]) -> int | None:
    """None where any is unknown."""
    known = list(sizes)
    return None if None in known else reduce(mul, (size for size in known if size is not None), 1)
