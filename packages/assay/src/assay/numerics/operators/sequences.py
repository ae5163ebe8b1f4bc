"""Sequences of tensors, and values that may be absent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.numerics.operators.record import OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator, behind
from assay.numerics.oracle.hooks import Values
from assay.numerics.shapes.constraints import Inputs, Walk
from assay.numerics.shapes.needed_values import COUNT, Demands, Need, size_of
from assay.numerics.shapes.propagation import first_input
from assay.numerics.shapes.values import UNKNOWN, Node, Value
from assay.ports import Tensor


def _tensors(operator: Operator, position: int) -> list[Tensor]:
    """Of a sequence, each with the axis."""
    tensors: list[Tensor] = list(operator.inputs[position])
    return (
        tensors
        if operator.is_rowed(position)
        else [np.broadcast_to(each, (operator.count, *each.shape)) for each in tensors]
    )


def _construct_rows(operator: Operator) -> Values | None:
    return ([operator.rows(position) for position in range(len(operator.inputs))],)


def _insert_rows(operator: Operator) -> Values | None:
    """At a place, or at the end."""
    if operator.is_rowed(2):
        return None
    arrays = _tensors(operator, 0)
    at: Any = operator.call.input(2)
    arrays.insert(len(arrays) if at is None else _place(at, len(arrays)), operator.rows(1))
    return (arrays,)


def _at_rows(operator: Operator) -> Values | None:
    if not operator.only(0):
        return None
    arrays = _tensors(operator, 0)
    return (arrays[_place(operator.inputs[1], len(arrays))],)


def _place(position: Any, count: int) -> int:
    place = int(np.asarray(position).reshape(-1)[0])
    return place + count if place < 0 else place


def _joined_rows(operator: Operator) -> Values | None:
    axis = behind(int(operator.attribute("axis", 0)))
    join = np.stack if operator.attribute("new_axis") else np.concatenate
    return (join(_tensors(operator, 0), axis=axis),)


def _sequence_shape(node: Node, inputs: Inputs, walk: Walk) -> Sequence[Value]:
    return [UNKNOWN]


def _pieces_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    size, count = size_of(inputs, 0, node.attributes.get("axis", 0)), size_of(inputs, 1, 0)
    if size is not None:
        parts = [float(size // count)] * (count - 1) if count else []
        yield 1, Need(1, size, COUNT, exact=(*parts, size - sum(parts)) if count else ())


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("SequenceEmpty Optional", moves=True, shape=_sequence_shape),
    *alike("SequenceConstruct", moves=True, batched=_construct_rows, shape=_sequence_shape),
    *alike("SequenceInsert", moves=True, reference="reducing", batched=_insert_rows, shape=_sequence_shape),
    *alike("SequenceAt", moves=True, batched=_at_rows, shape=_sequence_shape),
    *alike("SequenceErase SequenceLength OptionalGetElement OptionalHasElement", moves=True),
    *alike("SplitToSequence", moves=True, shape=_sequence_shape, ranges=_pieces_ranges, carries=first_input),
    *alike("ConcatFromSequence", moves=True, batched=_joined_rows, shape=_sequence_shape),
)
