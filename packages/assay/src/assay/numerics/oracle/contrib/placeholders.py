"""Operators that a kernel computes, and that onnx.reference must find all the same."""

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun

from assay.numerics.attributes import NotComputed


class MatMulNBits(OpRun):
    """`coarse_product` computes it; this only has to be there."""

    op_domain = "com.microsoft"

    def _run(self, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
        raise NotComputed(inputs=len(inputs), attributes=" ".join(sorted(attributes)))


class DynamicQuantizeLSTM(OpRun):
    """`quantized_lstm` computes it; this only has to be there."""

    op_domain = "com.microsoft"

    def _run(self, *inputs: Any, **attributes: Any) -> tuple[Any, ...]:
        raise NotComputed(inputs=len(inputs), attributes=" ".join(sorted(attributes)))
