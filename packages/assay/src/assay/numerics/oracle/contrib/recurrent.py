"""LSTM whose inputs and states go onto grids of eight bits of their own ranges, one for each step of time (ONNX Runtime,
ContribOperators.md, DynamicQuantizeLSTM)."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.numerics.operators.quantization import own_range
from assay.numerics.oracle.batched.operator import Operator
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.kernels.recurrent import activation_functions, unrolled
from assay.ports import Tensor

OPERATOR = "DynamicQuantizeLSTM"


def quantized_lstm(call: Call) -> Values | None:
    """Weights (directions, input or size, gates), with a scale and a zero point for each direction or each of its columns.

    All steps of the input are one grid, and all rows of a state. ONNX Runtime takes the rows apart where it gives them to several
    threads, so that its answer depends on how many there are: that is not part of the operator."""
    ahead = _ahead(call, call.input(0), (0, 1, 2))
    return activation_functions(call, *_unrolled(call, ahead, [call.input(at) for at in (3, 5, 6, 7)], (0, 1)))


def lifted_lstm(operator: Operator) -> Values | None:
    """Evaluations side by side, each with grids of its own; the weights are those of all."""
    call = operator.call
    if any(operator.is_rowed(at) for at in (1, 2, 4, 8, 9, 10, 11)):
        return None
    ahead = _ahead(call, operator.rows(0), (1, 2, 3)).swapaxes(0, 1)
    states = [None if call.input(at) is None else operator.rows(at).swapaxes(0, 1) for at in (3, 5, 6, 7)]
    bias, h0, c0, peepholes = states
    bias, peepholes = (None if weights is None else weights[:, :, None, :] for weights in (bias, peepholes))
    y, last_h, last_c = _unrolled(call, ahead, [bias, h0, c0, peepholes], (1, 2))
    return activation_functions(call, np.moveaxis(y, 2, 0), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1))


def _unrolled(
    call: Call, ahead: Tensor, states: Sequence[Tensor | None], axes: tuple[int, ...]
) -> tuple[Tensor, Tensor, Tensor]:
    """From an input on its grid; a state of one evaluation has these axes."""
    weights, recurrence = (_weights(call, at, scale, ahead.dtype) for at, scale in ((1, 8), (2, 10)))
    return unrolled(call, ahead, weights, recurrence, *states, entering=lambda state: _gridded(call, state, axes))


def _ahead(call: Call, x: Tensor, axes: tuple[int, ...]) -> Tensor:
    """The input, whose first of these axes is time, on its grid as far as the longest sequence goes."""
    steps = None if call.input(4) is None else int(np.max(call.input(4), initial=0))
    known: Any = (*[slice(None)] * axes[0], slice(steps))
    array = x.copy()
    array[known] = _gridded(call, x[known], axes)
    return np.asarray(array)


def _weights(call: Call, at: int, scale: int, dtype: Any) -> Tensor:
    """As LSTM has them: (directions, gates, input or size)."""
    whole = call.input(at).astype(dtype)
    by, zero = (call.input(number).reshape(len(whole), 1, -1).astype(dtype) for number in (scale, scale + 1))
    whole -= zero
    whole *= by
    return np.asarray(whole).swapaxes(1, 2)


def _gridded(call: Call, value: Tensor, axes: tuple[int, ...]) -> Tensor:
    """On the grid of its range along these axes and back. An engine may leave the grid out and keep real numbers (OpenVINO does)."""
    scale, zero = own_range(value, axes)
    whole = np.clip(np.rint(value / scale) + zero, 0, 255)
    array = np.asarray((whole - zero) * scale)
    return call.mark("left_out", array, error=value - array)
