"""One operator on several evaluations at once: some of its inputs have a leading axis of rows, one row for each evaluation."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.numerics.oracle.hooks import Call, Hook, Kernel, Values
from assay.ports import Tensor


class NotBatchable(Exception):
    """The rows do not have one shape, or do not go one way."""


@dataclass
class Operator:
    """`rowed` says which inputs of `call` have the axis, of length `count`; `kernel` is the operator in numpy, where there is
    one, and `node` that of onnx.reference."""

    node: Any
    call: Call
    rowed: tuple[bool, ...]
    count: int
    kernel: Kernel | None = None

    @property
    def inputs(self) -> Values:
        return self.call.inputs

    def attribute(self, name: str, default: Any = None) -> Any:
        value = self.call.attributes.get(name)
        return default if value is None else value

    def is_rowed(self, position: int) -> bool:
        return position < len(self.rowed) and self.rowed[position]

    def only(self, *positions: int) -> bool:
        """Whether no other input has rows."""
        return not any(has_rows for position, has_rows in enumerate(self.rowed) if position not in positions)

    def rows(self, position: int) -> Tensor:
        """An input with the axis, repeated without a copy where it had none."""
        value: Tensor = self.inputs[position]
        return value if self.rowed[position] else np.broadcast_to(value, (self.count, *value.shape))

    def shape(self, position: int) -> tuple[int, ...]:
        """The shape of one row."""
        own_shape: tuple[int, ...] = self.inputs[position].shape
        return own_shape[1:] if self.is_rowed(position) else own_shape

    def aligned(self, rank: int = 0) -> list[Any]:
        """All inputs, those with rows in one rank at least, so that they broadcast as one row of each would."""
        present = [position for position, value in enumerate(self.inputs) if value is not None]
        rank = max(rank, *(len(self.shape(position)) for position in present))
        inputs_aligned = list(self.inputs)
        for position in present:
            if self.rowed[position]:
                shape = self.shape(position)
                inputs_aligned[position] = inputs_aligned[position].reshape(
                    self.count, *[1] * (rank - len(shape)), *shape
                )
        return inputs_aligned

    def run(self, *inputs: Any, probe: Hook | None = None, **changed: Any) -> Values:
        """The operator itself on other inputs, with some attributes changed."""
        call, node = self.call, self.node
        if self.kernel is not None:
            call.inputs = inputs
            call.attributes = {**call.attributes, **changed}
            call.probe = probe or call.probe
            if (computed := self.kernel(call)) is not None:
                return computed
        if changed:
            node = copy.copy(node)
            for name, value in changed.items():
                setattr(node, name, value)
        results: Values = node.run(*inputs)
        return results


Lift = Callable[[Operator], Values | None]
"""What an operator gives for all rows at once, each result with the axis. None: this form is evaluated row by row."""


def behind(axis: int) -> int:
    """An axis of a row, where the axis of rows goes before all others."""
    return axis + 1 if axis >= 0 else axis


def texts(attributes: Mapping[str, Any], name: str) -> str:
    """An attribute that may have come as bytes."""
    value = attributes.get(name)
    return value.decode() if isinstance(value, bytes) else str(value or "")


def elementwise(operator: Operator) -> Values | None:
    """Operators whose every element of the answer comes from one element of each input; the inputs broadcast."""
    if operator.call.attributes.get("broadcast") is not None or operator.call.attributes.get("axis") is not None:
        return None  # how inputs met before opset 7
    return operator.run(*operator.aligned())


def axes_of(operator: Operator, position: int) -> list[int] | None:
    """The axes from the attribute, or from the input at that position."""
    axes = operator.attribute("axes")
    if axes is None and len(operator.inputs) > position and operator.inputs[position] is not None:
        axes = operator.inputs[position]
    return None if axes is None else [int(axis) for axis in np.asarray(axes).reshape(-1)]


def along_axis(default: int) -> Lift:
    """Operators that only need another axis; further inputs stay as they are."""

    def lift(operator: Operator) -> Values | None:
        return (
            operator.run(*operator.inputs, axis=behind(int(operator.attribute("axis", default))))
            if operator.only(0)
            else None
        )

    return lift


def in_batch(operator: Operator) -> Values | None:
    """Those that treat what lies along their first axis alike: all rows as one batch."""
    x = operator.rows(0)
    if not operator.only(0) or x.ndim < 3 or len(operator.call.outputs) > 1:
        return None
    values = operator.run(x.reshape(operator.count * x.shape[1], *x.shape[2:]), *operator.inputs[1:])
    return tuple(value.reshape(operator.count, x.shape[1], *value.shape[1:]) for value in values)
