"""Loop, Scan and If of several evaluations at once: what decides the way is the same in all rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.numerics.oracle.batched.operator import NotBatchable
from assay.numerics.oracle.control import Loop, Turn
from assay.numerics.oracle.evaluator import Evaluator


@dataclass(frozen=True)
class Valued:
    """A value, and whether it has the axis of rows."""

    value: Any
    is_rowed: bool = False


Body = Callable[[Evaluator, dict[str, Any], Collection[str]], list[Valued]]
"""Evaluates a graph: its outputs from values by name, of which some have the axis."""


class _Turn(Turn):
    """An iteration on values with and without the axis."""

    def __init__(self, body: Callable[[dict[str, Any]], list[Any]], count: int) -> None:
        super().__init__(body)
        self._count = count

    def number(self, value: Valued) -> Any:
        if value.is_rowed:
            raise NotBatchable
        return super().number(value.value)

    def known(self, value: Any) -> Valued:
        return Valued(value)

    def stack(self, values: Sequence[Valued]) -> Valued:
        if not any(value.is_rowed for value in values):
            return Valued(np.stack([value.value for value in values]))
        rows = [
            value.value if value.is_rowed else np.broadcast_to(value.value, (self._count, *value.value.shape))
            for value in values
        ]
        return Valued(np.stack(rows, axis=1), is_rowed=True)


def bodies(node: Any) -> list[Evaluator] | None:
    """The graphs of one that can be evaluated in rows; None where it cannot."""
    if node.has_linked_attribute or node.op_type not in ("Loop", "If"):
        return None
    return [node.body] if node.op_type == "Loop" else [node.then_branch, node.else_branch]


def controlled(node: Any, values: dict[str, Any], many: Collection[str], count: int, body: Body) -> list[Valued]:
    """The outputs of Loop or If among the `values` around it, of which those called in `many` have the axis."""

    def run(graph: Evaluator, inputs: dict[str, Valued]) -> list[Valued]:
        rowed = {name for name in many if name not in inputs} | {
            name for name, valued in inputs.items() if valued.is_rowed
        }
        return body(graph, {**values, **{name: valued.value for name, valued in inputs.items()}}, rowed)

    operands = [Valued(values[name], name in many) if name else None for name in node.input]
    turn = _Turn(lambda inputs: run(node.body, inputs), count)
    if isinstance(node, Loop):
        return list(node.turns(operands[0], operands[1] if len(operands) > 1 else None, operands[2:], turn))
    (condition,) = operands
    assert condition is not None
    return run(node.then_branch if turn.number(condition) else node.else_branch, {})
