"""Operators of former opsets that have another name today or that onnx.reference 1.23 computes otherwise than the standard, and
one that it refuses to set up."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_batch_normalization import BatchNormalization_14
from onnx.reference.ops.op_hardmax import Hardmax as Hardmax13
from onnx.reference.ops.op_rnn import CommonRNN
from onnx.reference.ops.op_roi_align import RoiAlign as RoiAlign16
from onnx.reference.ops.op_scatter_elements import scatter_elements
from onnx.reference.ops.op_softmax import Softmax as Softmax13

from assay.numerics.attributes import NotComputed
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
        version = _version(self)
        if version < 14:
            training = is_test != 1 if version < 7 else len([name for name in self.onnx_node.output if name]) > 1
            if training:
                raise NotComputed(opset=version, training=1)
        if spatial == 0:
            answer = scale * (x - mean) / np.sqrt(var + x.dtype.type(epsilon)) + bias
            return (answer.astype(x.dtype),)
        arrays: tuple[Tensor, ...] = super()._run(
            x, scale, bias, mean, var, epsilon=epsilon, momentum=momentum, training_mode=training_mode
        )
        return arrays


class _OfRows:
    """Before opset 13 the input is a matrix: what lies before `axis` (1 where none is named) are its rows. onnx.reference 1.23.2
    takes the axis alone in every opset."""

    op_domain = ""

    def _run(self, x: Tensor, axis: Any = None) -> tuple[Tensor, ...]:
        node: Any = self
        if _version(node) >= 13 or not x.ndim or not x.size:
            arrays: tuple[Tensor, ...] = super()._run(x, axis=axis)
            return arrays
        first = next((attribute.i for attribute in node.onnx_node.attribute if attribute.name == "axis"), 1)
        rows = x.reshape(math.prod(x.shape[: first % x.ndim]), -1)
        return (super()._run(rows, axis=1)[0].reshape(x.shape),)


class Softmax(_OfRows, Softmax13):
    """Softmax-1, -11 and -13."""


class LogSoftmax(Softmax):
    """LogSoftmax-1, -11 and -13."""

    def _run(self, x: Tensor, axis: Any = None) -> tuple[Tensor, ...]:
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x  # whose least quotient is not 0
        with np.errstate(divide="ignore"):
            return (np.log(super()._run(wide, axis=axis)[0]).astype(x.dtype),)


class Hardmax(_OfRows, Hardmax13):
    """Hardmax-1, -11 and -13."""


class RoiAlign(RoiAlign16):
    """RoiAlign-10 knows no half pixels: they came with opset 16."""

    op_domain = ""

    def _run(self, *inputs: Tensor, **attributes: Any) -> tuple[Tensor, ...]:
        if _version(self) < 16:
            attributes["coordinate_transformation_mode"] = "output_half_pixel"
        arrays: tuple[Tensor, ...] = super()._run(*inputs, **attributes)
        return arrays


class RNN(CommonRNN):
    """With the activations that onnx.reference knows (Tanh, Affine) it is that; with the others `kernels.recurrent` computes,
    and this only has to be there."""

    op_domain = ""

    def __init__(self, *arguments: Any) -> None:
        with suppress(RuntimeError):  # an activation, or how many parameters it has
            super().__init__(*arguments)
        self.n_outputs = len(self.onnx_node.output)


def _version(node: OpRun) -> int:
    version: int = node.run_params["opsets"][node.onnx_node.domain]
    return version
