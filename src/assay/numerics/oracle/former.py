"""Operators of former opsets that have another name today, and one that onnx.reference 1.23 refuses to set up."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

from contextlib import suppress
from typing import Any

from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_rnn import CommonRNN
from onnx.reference.ops.op_scatter_elements import scatter_elements

from assay.ports import Tensor


class Scatter(OpRun):
    """Scatter-9: ScatterElements without a reduction."""

    op_domain = ""

    def _run(self, data: Tensor, indices: Tensor, updates: Tensor, axis: Any = None) -> tuple[Tensor]:
        return (scatter_elements(data, indices, updates, axis=axis or 0),)


class RNN(CommonRNN):
    """With the activations that onnx.reference knows (Tanh, Affine) it is that; with the others `kernels.recurrent` computes,
    and this only has to be there."""

    op_domain = ""

    def __init__(self, *arguments: Any) -> None:
        with suppress(RuntimeError):  # an activation, or how many parameters it has
            super().__init__(*arguments)
        self.n_outputs = len(self.onnx_node.output)


FORMER_OPERATORS: list[type[OpRun]] = [Scatter, RNN]
