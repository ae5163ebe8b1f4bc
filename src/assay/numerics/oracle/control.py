"""Loop and Scan as the standard defines them: what each iteration gives is stacked along a new axis.

onnx.reference 1.23 joins it along the first axis that is there already, starts no loop without a condition, and knows Scan
only along the first axis, forwards. Definitions: the ONNX operator specification, Loop-1 to -25, Scan-8 to -25.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference.op_run import OpRun

from assay.ports import Tensor


class _Control(OpRun):
    op_domain = ""
    body: Any
    _run_body: Any

    def need_context(self) -> bool:
        """The body may read any value of the graph around it."""
        return True

    def _iterate(self, context: Any, inputs: dict[str, Any], **others: Any) -> list[Any]:
        """The outputs of the body. Its own names go before those around it."""
        found: list[Any] = self._run_body({**(context or {}), **inputs}, **others)
        return found

    def _elements(self, number: int) -> Tensor:
        """No element of the body's output `number`, of its declared type and shape, for a body that never ran."""
        declared = self.body.output_types_[number].tensor_type
        shape = [one.dim_value for one in declared.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(declared.elem_type or onnx.TensorProto.FLOAT)
        return np.zeros((0, *shape), dtype)


class Loop(_Control):
    """Body: (iteration, condition, carried ...) to (condition, carried ..., one element of each stack)."""

    def _run(
        self,
        most: Any,
        condition: Any,
        *carried: Any,
        context: Any = None,
        body: Any = None,
        attributes: Any = None,
        bindings: Any = None,
    ) -> tuple[Any, ...]:
        del body
        names = self.body.input_names
        limit = None if most is None else int(np.asarray(most).reshape(-1)[0])
        going = True if condition is None else bool(np.asarray(condition).reshape(-1)[0])
        values = list(carried)
        stacks: list[list[Any]] = [[] for _ in range(len(self.body.output_names) - 1 - len(values))]
        turn = 0
        while going and (limit is None or turn < limit):
            inputs = dict(zip(names, [np.array(turn, np.int64), np.array(going), *values], strict=False))
            found = self._iterate(context, inputs, attributes=attributes, bindings=bindings)
            going = bool(np.asarray(found[0]).reshape(-1)[0])
            values = found[1 : 1 + len(values)]
            for stack, one in zip(stacks, found[1 + len(values) :], strict=True):
                stack.append(one)
            turn += 1
        first = 1 + len(values)
        stacked = [np.stack(one) if one else self._elements(first + place) for place, one in enumerate(stacks)]
        return (*values, *stacked)


class Scan(_Control):
    """Body: (states ..., one slice of each scanned input) to (states ..., one slice of each scanned output). Before opset
    9 a batch of them, each as long as it says."""

    def _run(
        self,
        *args: Any,
        context: Any = None,
        num_scan_inputs: int = 0,
        attributes: Any = None,
        bindings: Any = None,
        **options: Any,
    ) -> tuple[Any, ...]:
        others = {"attributes": attributes, "bindings": bindings}
        if self.run_params["opsets"].get("", 9) < 9:
            return self._batch(context, args, num_scan_inputs, options.get("directions"), others)
        count = len(args) - num_scan_inputs
        axes, ways = options.get("scan_input_axes"), options.get("scan_input_directions")
        scanned = [
            _forward(np.moveaxis(one, _at(axes, place), 0), _at(ways, place)) for place, one in enumerate(args[count:])
        ]
        states, stacks = self._steps(context, args[:count], scanned, others)
        axes, ways = options.get("scan_output_axes"), options.get("scan_output_directions")
        outputs = [
            np.moveaxis(_forward(one, _at(ways, place)), 0, _at(axes, place)) for place, one in enumerate(stacks)
        ]
        return (*states, *outputs)

    def _steps(
        self, context: Any, states: Sequence[Any], scanned: Sequence[Tensor], others: dict[str, Any]
    ) -> tuple[list[Any], list[Tensor]]:
        values = list(states)
        stacks: list[list[Any]] = [[] for _ in range(len(self.body.output_names) - len(values))]
        for turn in range(min((len(one) for one in scanned), default=0)):
            given = dict(zip(self.body.input_names, [*values, *(one[turn] for one in scanned)], strict=False))
            found = self._iterate(context, given, **others)
            values = found[: len(values)]
            for stack, one in zip(stacks, found[len(values) :], strict=True):
                stack.append(one)
        first = len(values)
        return values, [np.stack(one) if one else self._elements(first + place) for place, one in enumerate(stacks)]

    def _batch(
        self, context: Any, args: Sequence[Any], scanned: int, directions: Any, others: dict[str, Any]
    ) -> tuple[Any, ...]:
        lengths, values = args[0], args[1:]
        count = len(values) - scanned
        rows = []
        for row in range(values[0].shape[0]):
            parts = [_forward(one[row], _at(directions, place)) for place, one in enumerate(values[count:])]
            longest = len(parts[0])
            length = longest if lengths is None else int(lengths[row])
            states, stacks = self._steps(
                context, [one[row] for one in values[:count]], [one[:length] for one in parts], others
            )
            rest = [(0, longest - length)]
            rows.append([*states, *(np.pad(one, rest + [(0, 0)] * (one.ndim - 1)) for one in stacks)])
        return tuple(np.stack(column) for column in zip(*rows, strict=True))


def _at(numbers: Any, place: int) -> int:
    """An attribute that may be left out, in whole or at its end."""
    return int(numbers[place]) if numbers is not None and place < len(numbers) else 0


def _forward(value: Tensor, direction: int) -> Tensor:
    return value[::-1] if direction == 1 else value


CONTROL_OPERATORS = [Loop, Scan]
