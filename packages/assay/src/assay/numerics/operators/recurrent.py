"""Recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.constraint import ConstraintCode
from assay.core.screening import Unspecified
from assay.numerics.attributes import stated
from assay.numerics.operators.mutations import BIAS, STATE, WEIGHTS
from assay.numerics.operators.record import MICROSOFT, Attribute, OnnxOperator, alike
from assay.numerics.oracle.batched.operator import Operator
from assay.numerics.oracle.contrib.recurrent import lifted_lstm, quantized_lstm
from assay.numerics.oracle.hooks import Values
from assay.numerics.oracle.kernels.recurrent import activation_functions, recurrent, unrolled
from assay.numerics.shapes.constraints import Conflict, Inputs, Walk, at, equal
from assay.numerics.shapes.needed_values import LENGTH, Demands, Need, size_of
from assay.numerics.shapes.values import UNKNOWN, Dims, Node, Value


def _recurrent_rows(operator: Operator) -> Values | None:
    """Rows between the steps, or the directions, and the batch."""
    if operator.is_rowed(4) or operator.attribute("layout"):
        return None
    x, w, r = (operator.rows(at).swapaxes(0, 1) for at in range(3))
    further = [None if operator.call.input(at) is None else operator.rows(at).swapaxes(0, 1) for at in (3, 5, 6, 7)]
    bias, h0, c0, peepholes = further
    bias, peepholes = (None if weights is None else weights[:, :, None, :] for weights in (bias, peepholes))
    c0, peepholes = (c0, peepholes) if operator.call.operator == "LSTM" else (None, None)
    y, last_h, last_c = unrolled(operator.call, x, w, r, bias, h0, c0, peepholes)
    return activation_functions(operator.call, np.moveaxis(y, 2, 0), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1))


_READINGS = ((Unspecified.BEYOND_THE_END, "other_recurrent"),)
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _recurrent_shape(node: Node, inputs: Inputs, _: Walk) -> Sequence[Value]:
    shape, weight, recurrence = (at(inputs, place).shape for place in (0, 1, 2))
    if shape is None or weight is None or recurrence is None:
        return [UNKNOWN] * len(node.outputs)
    equal(len(shape), 3, ConstraintCode.RECURRENT_RANK)
    # DynamicQuantizeLSTM keeps its weights transposed: [directions, input, gates * hidden].
    hidden_size = weight[1] if node.op.startswith("Dynamic") else weight[2]
    if shape[2] is not None and hidden_size is not None and shape[2] != hidden_size:
        raise Conflict(ConstraintCode.WEIGHT_TAKES_FEATURES, (shape[2], hidden_size), size=shape[2], wanted=hidden_size)
    hidden = stated(node.attributes, "hidden_size", recurrence[-1])
    if node.op in _GATES and hidden is not None:
        rows = _GATES[node.op] * hidden
        equal(weight[1], rows, ConstraintCode.GATE_ROWS)
        equal(recurrence[1], rows, ConstraintCode.GATE_ROWS)
        if (bias := at(inputs, 3).shape) is not None and len(bias) == 2:
            equal(bias[1], 2 * rows, ConstraintCode.GATE_ROWS)
    turned = node.attributes.get("layout", 0)
    steps, batch = (shape[1], shape[0]) if turned else (shape[0], shape[1])
    lengths = at(inputs, 4).shape
    if lengths:
        batch = equal(batch, lengths[0], ConstraintCode.LENGTH_BATCHES)
    for place in (5, 6) if "LSTM" in node.op else (5,):
        state = at(inputs, place).shape
        if state is not None and len(state) == 3:
            batch = equal(batch, state[0 if turned else 1], ConstraintCode.STATE_BATCHES)
            if hidden is not None and state[2] is not None and hidden != state[2]:
                raise Conflict(ConstraintCode.STATE_FEATURES, (state[2], hidden), size=state[2], wanted=hidden)
    ends: Dims = (batch, weight[0], hidden) if turned else (weight[0], batch, hidden)
    whole: Dims = (batch, steps, weight[0], hidden) if turned else (steps, weight[0], batch, hidden)
    return [Value(whole), Value(ends), Value(ends)]


def _steps_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    steps = size_of(inputs, 0, 1 if node.attributes.get("layout") else 0)
    yield 4, Need(1, steps or 1, LENGTH)


def _gate_channels(place: int, _: Attribute) -> int:
    return 1


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike(
        "RNN",
        weights=(1, 2),
        channels=_gate_channels,
        bias=3,
        reference="old_opsets",
        kernel=recurrent,
        readings=_READINGS,
        batched=_recurrent_rows,
        shape=_recurrent_shape,
        ranges=_steps_ranges,
        mutations=WEIGHTS | BIAS | STATE,
    ),
    *alike(
        "GRU",
        weights=(1, 2),
        channels=_gate_channels,
        bias=3,
        gate_order=(1, 0, 2),
        kernel=recurrent,
        readings=_READINGS,
        batched=_recurrent_rows,
        shape=_recurrent_shape,
        ranges=_steps_ranges,
        mutations=WEIGHTS | BIAS | STATE | {"exchange-gates", "gru-reset"},
    ),
    *alike(
        "LSTM",
        weights=(1, 2),
        channels=_gate_channels,
        bias=3,
        gate_order=(0, 2, 1, 3),
        kernel=recurrent,
        readings=_READINGS,
        batched=_recurrent_rows,
        shape=_recurrent_shape,
        ranges=_steps_ranges,
        mutations=WEIGHTS | BIAS | STATE | {"exchange-gates"},
    ),
    *alike(
        "DynamicQuantizeLSTM",
        domain=MICROSOFT,
        steers=(8, 9, 10, 11),
        jumps=True,
        reference="contrib.placeholders",
        kernel=quantized_lstm,
        batched=lifted_lstm,
        result_ranks=(4, 3, 3),
        shape=_recurrent_shape,
        ranges=_steps_ranges,
    ),
)
