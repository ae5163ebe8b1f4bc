"""Operators of former opsets that have another name today."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from typing import Any

from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_scatter_elements import scatter_elements

from assay.ports import Tensor


class Scatter(OpRun):
    """Scatter-9: ScatterElements without a reduction."""

    op_domain = ""

    def _run(self, data: Tensor, indices: Tensor, updates: Tensor, axis: Any = None) -> tuple[Tensor]:
        return (scatter_elements(data, indices, updates, axis=axis or 0),)


FORMER_OPERATORS = [Scatter]
