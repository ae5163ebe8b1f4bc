"""Operators that compute, with an axis of rows before all others: sums, products, normalisations, windows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from assay.numerics.oracle.batched.movement_ops import along_axis, in_batch
from assay.numerics.oracle.batched.operator import Lift, Operator, behind
from assay.numerics.oracle.hooks import Call, Hook, Values
from assay.numerics.oracle.kernels.recurrent import activation_functions, unrolled
from assay.ports import Tensor

ELEMENTWISE = frozenset(
    """
    Abs Acos Acosh Add And Asin Asinh Atan Atanh BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast Ceil Celu Clip
    Cos Cosh Div Elu Equal Erf Exp Floor Greater GreaterOrEqual HardSigmoid Identity IsInf IsNaN
    LeakyRelu Less LessOrEqual Log Max Mean Min Mod Mul Neg Not Or Pow Reciprocal Relu Round Selu Shrink Sigmoid
    Sign Sin Sinh Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu Where Xor
    """.split()  # noqa: SIM905  a list of names reads better as text
)
"""Every element of the answer from one element of each input, which broadcast."""


def _elementwise(one: Operator) -> Values | None:
    if one.call.attributes.get("broadcast") is not None or one.call.attributes.get("axis") is not None:
        return None  # how inputs met before opset 7
    return one.run(*one.aligned())


def _cast_like(one: Operator) -> Values | None:
    """The second input only has a type."""
    return one.run(one.rows(0), one.inputs[1])


def _reduce(one: Operator) -> Values | None:
    if not one.only(0):
        return None
    by_input = len(one.inputs) > 1 and one.inputs[1] is not None
    given = one.inputs[1] if by_input else one.attribute("axes")
    axes = [] if given is None else [int(axis) for axis in np.asarray(given).reshape(-1)]
    if not axes and one.attribute("noop_with_empty_axes"):
        return one.run(*one.inputs)
    moved = [behind(axis) for axis in axes] or list(range(1, one.inputs[0].ndim))
    if not moved:
        return None
    if by_input or "axes" not in one.call.attributes:
        return one.run(one.inputs[0], np.asarray(moved, np.int64))
    return one.run(one.inputs[0], axes=tuple(moved))


def _softmax(one: Operator) -> Values | None:
    """Before opset 13 the input is a matrix."""
    return along_axis(-1)(one) if one.call.version >= 13 and one.shape(0) else None


def _matmul(one: Operator) -> Values | None:
    if min(len(one.shape(0)), len(one.shape(1))) < 2:
        return None
    return (np.matmul(*one.aligned()),)


def _gemm(one: Operator) -> Values | None:
    a, b, *others = one.inputs
    a = a.swapaxes(-1, -2) if one.attribute("transA") else a
    b = b.swapaxes(-1, -2) if one.attribute("transB") else b
    y = a @ b * one.attribute("alpha", 1.0)
    if others and others[0] is not None:
        y = y + one.aligned(2)[2] * one.attribute("beta", 1.0)
    return (y.astype(a.dtype, copy=False),)


_BIAS = 2


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


def _in_channels(one: Operator, **changed: Any) -> Values | None:
    """Those that treat every channel, or group of channels, by numbers of its own: all rows as more of them."""
    if len(one.shape(0)) < 3 or len(one.call.outputs) > 1:
        return None
    if one.only(0) and one.kernel is None:
        return in_batch(one)
    x = _joined(one.rows(0))
    others = [None if given is None else one.rows(at) for at, given in enumerate(one.inputs) if at]
    flat = [None if given is None else given.reshape(-1, *given.shape[2:]) for given in others]
    found = one.run(x, *flat, probe=_InChannels(one.call.probe, one.count), **changed)
    return tuple(_apart(value, one.count) for value in found)


def _convolution(one: Operator) -> Values | None:
    """Where only the bias differs between rows, it is added afterwards."""
    if not one.only(0, _BIAS):
        return _in_channels(one, group=int(one.attribute("group", 1)) * one.count)
    bias = one.inputs[_BIAS] if one.is_rowed(_BIAS) else None
    without = replace(one, call=replace(one.call, inputs=one.inputs[:_BIAS]), rowed=one.rowed[:_BIAS])
    found = in_batch(one if bias is None else without)
    if found is None or bias is None:
        return found
    (y,) = found
    return (y + bias.reshape(one.count, 1, -1, *[1] * (y.ndim - 3)),)


def _batch(one: Operator) -> Values | None:
    return None if one.attribute("training_mode") else _in_channels(one)


def _layer(one: Operator) -> Values | None:
    return one.run(*one.aligned(), axis=behind(int(one.attribute("axis", -1))))


def _resize(one: Operator) -> Values | None:
    """Scales that leave the first axis alone."""
    scales = one.inputs[2] if len(one.inputs) > 2 else None
    alone = scales is not None and len(scales) == len(one.shape(0)) and float(scales[0]) == 1.0
    return in_batch(one) if alone and len(one.inputs) == 3 else None


def _grid_sample(one: Operator) -> Values | None:
    x, grid = one.rows(0), one.rows(1)
    batch = one.count * x.shape[1]
    (y,) = one.run(x.reshape(batch, *x.shape[2:]), grid.reshape(batch, *grid.shape[2:]))
    return (y.reshape(one.count, -1, *y.shape[1:]),)


def _recurrent(one: Operator) -> Values | None:
    """Rows between the steps, or the directions, and the batch."""
    if one.is_rowed(4) or one.attribute("layout"):
        return None
    x, w, r = (one.rows(at).swapaxes(0, 1) for at in range(3))
    further = [None if one.call.input(at) is None else one.rows(at).swapaxes(0, 1) for at in (3, 5, 6, 7)]
    bias, h0, c0, peepholes = further
    bias, peepholes = (None if given is None else given[:, :, None, :] for given in (bias, peepholes))
    c0, peepholes = (c0, peepholes) if one.call.operator == "LSTM" else (None, None)
    y, last_h, last_c = unrolled(one.call, x, w, r, bias, h0, c0, peepholes)
    return activation_functions(one.call, np.moveaxis(y, 2, 0), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1))


def _quantized(one: Operator) -> Values | None:
    """One scale, or one for each index of the axis; blocks of scales have as many axes as the input and no rows."""
    return along_axis(1)(one) if np.ndim(one.inputs[1]) < 2 else None


COMPUTING: dict[str, Lift] = {
    **dict.fromkeys(sorted(ELEMENTWISE), _elementwise),
    **dict.fromkeys(
        (
            "ReduceL1",
            "ReduceL2",
            "ReduceLogSum",
            "ReduceLogSumExp",
            "ReduceMax",
            "ReduceMean",
            "ReduceMin",
            "ReduceProd",
            "ReduceSum",
            "ReduceSumSquare",
        ),
        _reduce,
    ),
    "CastLike": _cast_like,
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _softmax),
    **dict.fromkeys(("ArgMax", "ArgMin"), along_axis(0)),
    "LpNormalization": along_axis(-1),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantized),
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _recurrent),
    "MatMul": _matmul,
    "Gemm": _gemm,
    **dict.fromkeys(("Conv", "ConvTranspose"), _convolution),
    "BatchNormalization": _batch,
    "InstanceNormalization": _in_channels,
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), _layer),
    **dict.fromkeys(("AveragePool", "GlobalAveragePool", "LpPool", "LRN"), in_batch),
    "Resize": _resize,
    "GridSample": _grid_sample,
}
