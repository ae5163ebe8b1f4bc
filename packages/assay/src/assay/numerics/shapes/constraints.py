"""What an operator demands of the shapes of its inputs, and the shapes of what it gives: what these rules are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from assay.core.constraint import ConstraintCode
from assay.core.finding import Fact
from assay.numerics.shapes.values import UNKNOWN, Dims, Node, Value

Inputs = Sequence[Value]


class Walk(Protocol):
    """The walk over a graph that asks a rule. `narrow` counts windows that are larger than what they slide over, padding apart, or that
    end before all that a Pad added, which `unread` more elements would make them read; `untaken` branches that these sizes cannot enter;
    `unmet` is the first constraint that they do not meet."""

    narrow: int
    unread: int
    untaken: int
    unmet: Any
    opset: int

    def enter(self, graph: Any, inputs: Sequence[Value] = ()) -> list[Value]:
        """The outputs of a body of the operator. Raises Conflict."""
        ...


ShapeRule = Callable[[Node, Inputs, Walk], Sequence[Value]]
"""What an operator gives for these inputs. Raises Conflict."""


class Conflict(ValueError):
    """A constraint that these sizes, or attributes, do not meet. `pairs` are (is, should be): sizes that would meet it, if known."""

    def __init__(self, code: ConstraintCode, *pairs: tuple[int, int], **facts: Fact) -> None:
        super().__init__(code, facts)
        self.code, self.facts, self.pairs = code, facts, pairs


def at(inputs: Inputs, place: int) -> Value:
    """An input that may be left out."""
    return inputs[place] if place < len(inputs) else UNKNOWN


def ints(value: Value) -> list[int] | None:
    """The values of a small integer tensor."""
    return None if value.data is None else [int(number) for number in value.data.reshape(-1)]


def text(dims: Dims | Sequence[int | None]) -> str:
    """`[1, ?, 4]`."""
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in dims) + "]"


def equal(first: int | None, other: int | None, code: ConstraintCode, **facts: Fact) -> int | None:
    """The size that both have. Raises Conflict, which says what they are by its `code`."""
    if first is not None and other is not None and first != other:
        raise Conflict(code, (first, other), (other, first), one=first, other=other, **facts)
    return other if first is None else first


def broadcast(shapes: Sequence[Dims | None]) -> Dims | None:
    """The common shape. Raises Conflict."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes):
        return None
    rank = max(map(len, known), default=0)
    result: list[int | None] = []
    for axis in range(-rank, 0):
        size: int | None = 1
        for dims in known:
            if -axis > len(dims) or dims[axis] == 1:
                continue
            if size == 1:
                size = dims[axis]
            elif size is None or dims[axis] is None:
                size = dims[axis] if size is None else size
            elif size != dims[axis]:
                pairs = (size, dims[axis] or 0), (dims[axis] or 0, size)
                raise Conflict(ConstraintCode.BROADCAST, *pairs, shapes=tuple(map(text, known)))
        result.append(size)
    return tuple(result)


def axis_of(axis: int, rank: int) -> int:
    """Counted from the front. Raises Conflict."""
    if not -rank <= axis < max(rank, 1):
        raise Conflict(ConstraintCode.AXIS_OUTSIDE, axis=axis, rank=rank)
    return axis % max(rank, 1)


def plain(dims: Dims | None) -> list[Value]:
    """One output of this shape."""
    return [Value(dims)]
