"""A graph evaluated in several rows at once: what differs between them has a leading axis, what does not is computed once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpFunction

from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.numerics.operators.index import in_domain
from assay.numerics.operators.record import MICROSOFT
from assay.numerics.oracle.batched.control import Valued, bodies, controlled
from assay.numerics.oracle.batched.operator import Lift, NotBatchable, Operator
from assay.numerics.oracle.evaluator import Evaluator, kernel_of
from assay.numerics.oracle.hooks import Hook, Values, observed_by
from assay.ports import Tensor, Tensors

LIFTS: dict[str, Lift] = in_domain("", lambda record: record.batched)
_LIFTS = {"": LIFTS, "ai.onnx": LIFTS, MICROSOFT: in_domain(MICROSOFT, lambda record: record.batched)}
_FORMS = (
    ArithmeticError,
    AttributeError,
    IndexError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Rows(Hook):
    """A probe of all rows: `site` and `node` are told of values with the axis of rows, and may give it to those without."""

    def touches(self, outputs: tuple[str, ...]) -> bool:
        """Whether the operator that gives these is seen at all."""
        raise NotImplementedError

    def in_single(self, outputs: tuple[str, ...]) -> bool:
        """Whether single precision will do for the operator that gives these."""
        del outputs
        return False

    def row(self, number: int) -> Hook:
        """The probe of one row, where an operator is evaluated row by row: all of them in their order."""
        raise NotImplementedError

    def begins(self, outputs: tuple[str, ...]) -> None:
        """The operator that gives these is evaluated now."""

    def broken(self, outputs: tuple[str, ...], why: str) -> None:
        """All rows at once, it failed, which is a fault of ours: it begins again, row by row."""


def stackable(evaluator: Evaluator) -> bool:
    """Not where functions hide what happens inside of them, or subgraphs that rows cannot go through together."""
    inner = [bodies(node) for node in evaluator.rt_nodes_ if node.need_context()]
    return not evaluator.functions_ and all(each is not None and all(map(stackable, each)) for each in inner)


def evaluate_rows(
    evaluator: Evaluator, tensors: Tensors, rowed: Collection[str], count: int, probe: Rows, output_names: Sequence[str]
) -> list[list[Tensor]]:
    """The values called `output_names`, of every row. Of `tensors` those called `rowed` have the axis; one called like an
    initializer takes its place. Raises Unlike, or Lowering that names the node."""
    values, many = _evaluate(evaluator, tensors, rowed, count, probe, output_names)
    return [
        [_row(values[name], row) if name in many else values[name] for name in output_names] for row in range(count)
    ]


def _evaluate(
    evaluator: Evaluator, tensors: Tensors, rowed: Collection[str], count: int, probe: Rows, output_names: Sequence[str]
) -> tuple[dict[str, Any], set[str]]:
    """What is known at the end, and what of it has the axis."""
    values: dict[str, Any] = {"": None, **evaluator.rt_inits_, **tensors}
    many = set(rowed)

    def body(graph: Evaluator, tensors_of_body: dict[str, Any], rowed: Collection[str]) -> list[Valued]:
        inner, inside = _evaluate(graph, tensors_of_body, rowed, count, probe, graph.output_names)
        return [Valued(inner[name], name in inside) for name in graph.output_names]

    for node, freed in evaluator.plan(frozenset(output_names)):
        outputs = tuple(node.output)
        if node.need_context():
            results_of_body = controlled(node, values, many, count, body)
            results = tuple(valued.value for valued in results_of_body)
            many.update(name for name, valued in zip(outputs, results_of_body, strict=False) if valued.is_rowed)
        elif many.isdisjoint(node.input) and not probe.touches(outputs):
            results = evaluator.step(node, values)
        else:
            results = _Rowed(evaluator, node, values, many, count, probe).results()
            many.update(outputs)
        values.update(zip(outputs, results, strict=False))
        for name in freed:
            values.pop(name, None)
    return values, many


class _Rowed:
    """One operator."""

    def __init__(
        self, evaluator: Evaluator, node: Any, values: dict[str, Any], many: set[str], count: int, probe: Rows
    ) -> None:
        self._evaluator, self._node, self._values = evaluator, node, values
        self._count, self._probe = count, probe
        self._names = tuple(node.input)
        self._rowed = tuple(name in many for name in self._names)

    def results(self) -> Values:
        if isinstance(self._node, OpFunction):
            return self._body() if _is_plain(self._node) else self._one_by_one()
        lift = _LIFTS.get(self._node.domain, {}).get(self._node.op_type)
        if lift is None:
            return self._one_by_one()
        inputs = tuple(self._values[name] for name in self._names)
        kernel = kernel_of(self._node.domain, self._node.op_type)
        if not any(self._rowed) and kernel is None:
            return self._seen(self._evaluator.step(self._node, self._values), inputs)
        outputs = tuple(self._node.output)
        self._probe.begins(outputs)
        try:
            lifted = self._lifted(lift, inputs)
        except _FORMS as error:
            self._probe.broken(outputs, f"{self._node.op_type}: {type(error).__name__}: {error}")
            lifted = None
        return self._one_by_one() if lifted is None else lifted

    def _lifted(self, lift: Lift, inputs: Values) -> Values | None:
        node = self._node
        if self._probe.in_single(tuple(node.output)):
            inputs = tuple(_cast(array, np.float64, np.float32) for array in inputs)
        call = self._evaluator.call(node, inputs)
        call.probe = self._probe
        rowed = self._rowed
        if not any(rowed):
            # Noise comes from inside: the first input takes the axis there.
            call.inputs = (np.broadcast_to(inputs[0], (self._count, *inputs[0].shape)), *inputs[1:])
            rowed = (True, *rowed[1:])
        lifted = lift(Operator(node, call, rowed, self._count, kernel_of(node.domain, node.op_type)))
        if lifted is None or not all(_has_rows(result, self._count) for result in lifted):
            return None
        return lifted if call.marked else self._seen(lifted, inputs)

    def _seen(self, results: Values, inputs: Values) -> Values:
        """With the axis, past the probe."""
        call = self._evaluator.call(self._node, inputs)
        observed = self._probe.node(call, results, _never)
        if any(self._rowed):
            return observed
        return tuple(
            after if after is not before else np.broadcast_to(before, (self._count, *np.shape(before)))
            for before, after in zip(results, observed, strict=True)
        )

    def _body(self) -> Values:
        """What a function is made of, in rows too."""
        body = self._node.impl_
        tensors = dict(zip(body.input_names, map(self._wide, self._names), strict=True))
        rowed = [name for name, is_rowed in zip(body.input_names, self._rowed, strict=True) if is_rowed]
        values, many = _evaluate(body, tensors, rowed, self._count, self._probe, body.output_names)
        pairs = ((values[name], name in many) for name in body.output_names)
        return tuple(value if has else np.broadcast_to(value, (self._count, *value.shape)) for value, has in pairs)

    def _wide(self, name: str) -> Any:
        """A value as the evaluator expects it, whatever it was computed in."""
        wide = self._evaluator.computes_in == "float64"
        return _cast(self._values[name], np.float32, np.float64) if wide else self._values[name]

    def _one_by_one(self) -> Values:
        rows = []
        for number in range(self._count):
            row = {
                name: _row(self._wide(name), number) if rowed else self._wide(name)
                for name, rowed in zip(self._names, self._rowed, strict=True)
            }
            with observed_by(self._probe.row(number)):
                rows.append(self._evaluator.step(self._node, row))
        return tuple(_stacked(results, self._node.op_type) for results in zip(*rows, strict=True))


def _has_rows(value: Any, count: int) -> bool:
    tensors = value if isinstance(value, list) else [value]
    return all(isinstance(tensor, np.ndarray) and tensor.shape[:1] == (count,) for tensor in tensors)


def _cast(value: Any, source: type[np.generic], other: type[np.generic]) -> Any:
    """Of that other type, if it is an array of the one."""
    return value.astype(other) if isinstance(value, np.ndarray) and value.dtype == source else value


def _row(value: Any, number: int) -> Any:
    return [tensor[number] for tensor in value] if isinstance(value, list) else value[number]


def _stacked(rows: Sequence[Any], operator: str) -> Any:
    """Raises Unlike where they do not have one shape."""
    if all(isinstance(row, list) and len(row) == len(rows[0]) for row in rows):
        return [_stacked(each, operator) for each in zip(*rows, strict=True)]
    if not all(isinstance(row, np.ndarray | np.generic) for row in rows):
        raise NotBatchable
    try:
        return np.stack(rows)
    except ValueError as error:
        raise NotBatchable from error


def _is_plain(function: OpFunction) -> bool:
    """One whose body is the same wherever it is called."""
    body = function.impl_
    return (
        isinstance(body, Evaluator)
        and stackable(body)
        and not any(node.has_linked_attribute for node in body.rt_nodes_)
    )


def _never(*_: Any) -> Values:
    raise Lowering(noted(NoteCode.ROWS_NOT_AGAIN))
