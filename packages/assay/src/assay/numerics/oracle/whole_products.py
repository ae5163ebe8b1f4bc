"""Products of whole numbers: double holds every sum of products of bytes exactly, and multiplies matrices in a fraction of the time."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="override,no-untyped-call,misc"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_conv_integer import ConvInteger as _ConvInteger

from assay.numerics.attributes import stated
from assay.numerics.oracle.convolution import convolved
from assay.ports import Tensor


class ConvInteger(_ConvInteger):
    """Conv of whole numbers less their zero points, the one of W for each output channel (ConvInteger-10)."""

    op_domain = ""

    def _run(
        self, x: Tensor, w: Tensor, x_zero: Tensor | None = None, w_zero: Tensor | None = None, **attributes: Any
    ) -> tuple[Tensor, ...]:
        if x.ndim <= 2 or x.shape[1] != w.shape[1] * stated(attributes, "group", 1):
            arrays: tuple[Tensor, ...] = super()._run(x, w, x_zero, w_zero, **attributes)
            return arrays
        left, right = x.astype(np.float64), w.astype(np.float64)
        if x_zero is not None:
            left -= x_zero.reshape(())
        if w_zero is not None:
            right -= w_zero.reshape(-1, *[1] * (w.ndim - 1))
        return (convolved(left, right, None, attributes).astype(np.int64).astype(np.int32),)


class MatMulInteger(OpRun):
    """Zero points are numbers, one for each row of A, or one for each column of B (MatMulInteger-10)."""

    op_domain = ""

    def _run(self, a: Tensor, b: Tensor, a_zero: Any = None, b_zero: Any = None) -> tuple[Tensor]:
        left, right = a.astype(np.float64), b.astype(np.float64)
        if a_zero is not None:
            left -= a_zero[:, None] if a_zero.ndim == 1 and a.ndim > 1 else a_zero
        if b_zero is not None:
            right -= b_zero
        return (np.asarray(left @ right).astype(np.int64).astype(np.int32),)
