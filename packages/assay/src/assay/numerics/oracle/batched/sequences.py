"""Sequences of tensors: one with an axis of rows has it in every tensor."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.numerics.oracle.batched.operator import Lift, Operator, behind
from assay.numerics.oracle.hooks import Values
from assay.ports import Tensor


def _tensors(one: Operator, position: int) -> list[Tensor]:
    """Of a sequence, each with the axis."""
    given: list[Tensor] = list(one.inputs[position])
    return given if one.is_rowed(position) else [np.broadcast_to(each, (one.count, *each.shape)) for each in given]


def _construct(one: Operator) -> Values | None:
    return ([one.rows(position) for position in range(len(one.inputs))],)


def _insert(one: Operator) -> Values | None:
    """At a place, or at the end."""
    if one.is_rowed(2):
        return None
    found = _tensors(one, 0)
    at: Any = one.call.input(2)
    found.insert(len(found) if at is None else _place(at, len(found)), one.rows(1))
    return (found,)


def _at(one: Operator) -> Values | None:
    if not one.only(0):
        return None
    found = _tensors(one, 0)
    return (found[_place(one.inputs[1], len(found))],)


def _place(position: Any, count: int) -> int:
    place = int(np.asarray(position).reshape(-1)[0])
    return place + count if place < 0 else place


def _joined(one: Operator) -> Values | None:
    axis = behind(int(one.attribute("axis", 0)))
    join = np.stack if one.attribute("new_axis") else np.concatenate
    return (join(_tensors(one, 0), axis=axis),)


SEQUENCES: dict[str, Lift] = {
    "SequenceConstruct": _construct,
    "SequenceInsert": _insert,
    "SequenceAt": _at,
    "ConcatFromSequence": _joined,
}
