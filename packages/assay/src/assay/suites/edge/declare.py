"""What a line of the edge tables says: one small graph, its inputs, and the answer that is specified, or the misuse."""

from __future__ import annotations

from dataclasses import dataclass, field

from assay.core.error_case import ErrorCase

Value = bool | int | float | str
Given = tuple[str, tuple[int, ...], tuple[Value, ...]]
"""An element type, a shape and its elements, row by row; one element stands for all."""


@dataclass(frozen=True)
class Node:
    """One operator: its inputs and outputs by name, its attributes; `body` is the graph of a Loop."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] = ("y",)
    attributes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Edge:
    """One case. `inputs` are fed, `constants` are in the model, `outputs` is the specified answer.

    `source` says who specifies it. `opset` where 18 will not do. `relative` is allowed, and nothing absolute.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: dict[str, Given]
    outputs: dict[str, Given]
    source: str
    constants: dict[str, Given] = field(default_factory=dict)
    opset: int = 18
    relative: float = 1e-5
    misuse: ErrorCase | None = None
    wrong: tuple[Node, ...] = ()
    """The nodes of the model that is wrong in itself, for a misuse of kind `model`."""
    declared: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    """Shapes of inputs and outputs in the model where they are not those of the data."""


def floats(text: str, shape: tuple[int, ...] | None = None, dtype: str = "float32") -> Given:
    """`nan inf -inf -0 1e-40 1`: one axis, unless a shape is given."""
    values = tuple(float(word) for word in text.split())
    return dtype, (len(values),) if shape is None else shape, values


def ints(text: str, dtype: str = "int64", shape: tuple[int, ...] | None = None) -> Given:
    """The same of whole numbers."""
    values = tuple(int(word) for word in text.split())
    return dtype, (len(values),) if shape is None else shape, values


def truths(text: str) -> Given:
    """`1 0 1` as bool."""
    return "bool", (len(text.split()),), tuple(word == "1" for word in text.split())
