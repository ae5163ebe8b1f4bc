"""Rows as more channels: for operators that treat every channel by numbers of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.numerics.oracle.batched.operator import Operator, in_batch
from assay.numerics.oracle.hooks import Call, Hook, Values
from assay.ports import Tensor


class _InChannels(Hook):
    """Tells another probe of places whose rows lie side by side along the axis of channels."""

    def __init__(self, probe: Hook, count: int) -> None:
        self._probe, self._count = probe, count

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        return _joined(self._probe.site(kind, _apart(value, self._count), call, operands))


def _joined(rows: Tensor) -> Tensor:
    """(rows, batch, channels ...) as (batch, rows x channels ...)."""
    moved = rows.swapaxes(0, 1)
    return moved.reshape(moved.shape[0], moved.shape[1] * moved.shape[2], *moved.shape[3:])


def _apart(value: Tensor, count: int) -> Tensor:
    return value.reshape(value.shape[0], count, value.shape[1] // count, *value.shape[2:]).swapaxes(0, 1)


def in_channels(operator: Operator, **changed: Any) -> Values | None:
    """Those that treat every channel, or group of channels, by numbers of its own: all rows as more of them."""
    if len(operator.shape(0)) < 3 or len(operator.call.outputs) > 1:
        return None
    if operator.only(0) and operator.kernel is None:
        return in_batch(operator)
    x = _joined(operator.rows(0))
    others = [None if operand is None else operator.rows(at) for at, operand in enumerate(operator.inputs) if at]
    flat = [None if operand is None else operand.reshape(-1, *operand.shape[2:]) for operand in others]
    values = operator.run(x, *flat, probe=_InChannels(operator.call.probe, operator.count), **changed)
    return tuple(_apart(value, operator.count) for value in values)
