"""Operators of former opsets that have another name today or that onnx.reference 1.23 computes otherwise than the standard, and
one that it refuses to set up."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_batch_normalization import BatchNormalization_14
from onnx.reference.ops.op_rnn import CommonRNN
from onnx.reference.ops.op_scatter_elements import scatter_elements

from assay.ports import Tensor


class Scatter(OpRun):
    """Scatter-9: ScatterElements without a reduction."""

    op_domain = ""

    def _run(self, data: Tensor, indices: Tensor, updates: Tensor, axis: Any = None) -> tuple[Tensor]:
        return (scatter_elements(data, indices, updates, axis=axis or 0),)


class BatchNormalization(BatchNormalization_14):
    """Before opset 14 the number of outputs says whether it trains: one is inference, by the mean and variance that are given.
    onnx.reference 1.23.2 mixes the batch's own into them (opsets 9 to 13), or takes the batch's own (7 and 8)."""

    op_domain = ""

    def _run(
        self,
        x: Tensor,
        scale: Tensor,
        bias: Tensor,
        mean: Tensor,
        var: Tensor,
        *,
        epsilon: float,
        momentum: float,
        training_mode: int = 0,
        is_test: int | None = None,
        spatial: int | None = None,
        consumed_inputs: object = None,  # noqa: ARG002  named by the schema
    ) -> tuple[Tensor, ...]:
        """`is_test` and `consumed_inputs` are of opsets 1 and 6, `spatial` of those to 8: 0 is a scale for every element."""
        version = self.run_params["opsets"][self.onnx_node.domain]
        if version < 14:
            training = is_test != 1 if version < 7 else len([name for name in self.onnx_node.output if name]) > 1
            if training:
                raise NotImplementedError(f"the training of BatchNormalization-{version}")
        if spatial == 0:
            answer = scale * (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) + bias
            return (answer.astype(x.dtype),)
        found: tuple[Tensor, ...] = super()._run(
            x, scale, bias, mean, var, epsilon=epsilon, momentum=momentum, training_mode=training_mode
        )
        return found


class RNN(CommonRNN):
    """With the activations that onnx.reference knows (Tanh, Affine) it is that; with the others `kernels.recurrent` computes,
    and this only has to be there."""

    op_domain = ""

    def __init__(self, *arguments: Any) -> None:
        with suppress(RuntimeError):  # an activation, or how many parameters it has
            super().__init__(*arguments)
        self.n_outputs = len(self.onnx_node.output)


FORMER_OPERATORS: list[type[OpRun]] = [Scatter, BatchNormalization, RNN]
