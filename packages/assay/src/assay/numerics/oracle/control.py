"""Loop and Scan as the standard defines them: what each iteration gives is stacked along a new axis.

onnx.reference 1.23 joins it along the first axis that is there already, starts no loop without a condition, and knows Scan
only along the first axis, forwards. Definitions: the ONNX operator specification, Loop-1 to -25, Scan-8 to -25.
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference.op_run import OpRun

from assay.ports import Tensor


class Turn:
    """One iteration: `body` gives its outputs by its inputs, and how values are read and put together."""

    def __init__(self, body: Callable[[dict[str, Any]], list[Any]]) -> None:
        self.body = body

    def number(self, value: Any) -> Any:
        """The one element of a count or of a condition."""
        return np.asarray(value).reshape(-1)[0]

    def known(self, value: Tensor) -> Any:
        """What no iteration gave."""
        return value

    def stack(self, values: Sequence[Any]) -> Any:
        return np.stack(values)


class _Control(OpRun):
    op_domain = ""
    body: Any
    _run_body: Any

    def need_context(self) -> bool:
        """The body may read any value of the graph around it."""
        return True

    def _turn(self, context: Any, **others: Any) -> Turn:
        """The body, with its own names before those around it."""
        return Turn(lambda inputs: self._run_body({**(context or {}), **inputs}, **others))

    def stacked(self, stacks: Sequence[Sequence[Any]], first: int, turn: Turn) -> list[Any]:
        """What each iteration gave, from the body's output number `first` on."""
        return [
            turn.stack(stack) if stack else turn.known(self._elements(first + place))
            for place, stack in enumerate(stacks)
        ]

    def _elements(self, number: int) -> Tensor:
        """No element of the body's output `number`, of its declared type and shape, for a body that never ran."""
        declared = self.body.output_types_[number].tensor_type
        shape = [dim.dim_value for dim in declared.shape.dim]
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
        return self.turns(most, condition, carried, self._turn(context, attributes=attributes, bindings=bindings))

    def turns(self, most: Any, condition: Any, carried: Sequence[Any], turn: Turn) -> tuple[Any, ...]:
        """What is carried, and the stacks, when it is over."""
        limit = None if most is None else int(turn.number(most))
        going = True if condition is None else bool(turn.number(condition))
        values = list(carried)
        stacks: list[list[Any]] = [[] for _ in range(len(self.body.output_names) - 1 - len(values))]
        count = 0
        while going and (limit is None or count < limit):
            start = [turn.known(np.array(count, np.int64)), turn.known(np.array(going))]
            results = turn.body(dict(zip(self.body.input_names, [*start, *values], strict=False)))
            going = bool(turn.number(results[0]))
            values = results[1 : 1 + len(values)]
            for stack, value in zip(stacks, results[1 + len(values) :], strict=True):
                stack.append(value)
            count += 1
        return (*values, *self.stacked(stacks, 1 + len(values), turn))


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
        turn = self._turn(context, attributes=attributes, bindings=bindings)
        if self.run_params["opsets"].get("", 9) < 9:
            return self._batch(args, num_scan_inputs, options.get("directions"), turn)
        count = len(args) - num_scan_inputs
        axes, ways = options.get("scan_input_axes"), options.get("scan_input_directions")
        scanned = [
            _forward(np.moveaxis(arg, _at(axes, place), 0), _at(ways, place)) for place, arg in enumerate(args[count:])
        ]
        states, stacks = self._steps(args[:count], scanned, turn)
        axes, ways = options.get("scan_output_axes"), options.get("scan_output_directions")
        outputs = [
            np.moveaxis(_forward(stack, _at(ways, place)), 0, _at(axes, place)) for place, stack in enumerate(stacks)
        ]
        return (*states, *outputs)

    def _steps(self, states: Sequence[Any], scanned: Sequence[Tensor], turn: Turn) -> tuple[list[Any], list[Tensor]]:
        values = list(states)
        stacks: list[list[Any]] = [[] for _ in range(len(self.body.output_names) - len(values))]
        for step in range(min((len(array) for array in scanned), default=0)):
            results = turn.body(
                dict(zip(self.body.input_names, [*values, *(array[step] for array in scanned)], strict=False))
            )
            values = results[: len(values)]
            for stack, value in zip(stacks, results[len(values) :], strict=True):
                stack.append(value)
        return values, self.stacked(stacks, len(values), turn)

    def _batch(self, args: Sequence[Any], scanned: int, directions: Any, turn: Turn) -> tuple[Any, ...]:
        lengths, values = args[0], args[1:]
        count = len(values) - scanned
        rows = []
        for row in range(values[0].shape[0]):
            parts = [_forward(value[row], _at(directions, place)) for place, value in enumerate(values[count:])]
            longest = len(parts[0])
            length = longest if lengths is None else int(lengths[row])
            states, stacks = self._steps(
                [value[row] for value in values[:count]], [part[:length] for part in parts], turn
            )
            rest = [(0, longest - length)]
            rows.append([*states, *(np.pad(stack, rest + [(0, 0)] * (stack.ndim - 1)) for stack in stacks)])
        return tuple(np.stack(column) for column in zip(*rows, strict=True))


def _at(numbers: Any, place: int) -> int:
    """An attribute that may be left out, in whole or at its end."""
    return int(numbers[place]) if numbers is not None and place < len(numbers) else 0


def _forward(value: Tensor, direction: int) -> Tensor:
    return value[::-1] if direction == 1 else value
