"""Recurrent layers whose steps go on beyond the end of a sequence: of Y there the text says nothing at any opset, and of Y_h and Y_c that
they are the last ones."""

# onnx.reference is untyped.
# mypy: disable-error-code="misc"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.numerics.attributes import NotComputed
from assay.numerics.oracle.hooks import Call, Values
from assay.numerics.oracle.kernels.recurrent import recurrent, sides_of
from assay.ports import Tensor


def going_on(call: Call) -> Values | None:
    """Forward alone: a backward direction has come from beyond the end already, and what it gives inside is said."""
    first, lengths = recurrent(call), call.input(4)
    if first is None or lengths is None:
        return first
    whole = recurrent(call.silent((*call.inputs[:4], None, *call.inputs[5:])))
    assert whole is not None
    turned = bool(call.attributes.get("layout"))
    y, endless = (np.moveaxis(values[0], 0, 2) if turned else values[0] for values in (first, whole))
    beyond = np.arange(len(y))[:, None, None] >= np.asarray(lengths)[None, None, :]
    is_forward = np.logical_not(sides_of(call))[None, :, None]
    result: Tensor = np.where((beyond & is_forward)[..., None], endless, y)
    return (np.moveaxis(result, 2, 0) if turned else result, *first[1:])


class RNN(OpRun):
    """`other_kernel` takes the place of the one of the record."""

    op_domain = ""
    other_kernel = staticmethod(going_on)

    def _run(self, *inputs: Any, **attributes: Any) -> tuple[Tensor, ...]:
        del inputs, attributes
        raise NotComputed(type="float16")


class GRU(RNN):
    """The same."""


class LSTM(RNN):
    """The same."""
