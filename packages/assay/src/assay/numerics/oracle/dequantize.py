"""DequantizeLinear for onnx.reference: in the one type of a widened model, and in the types that a model declares."""

# onnx.reference is untyped.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import numpy as np
import onnx
from onnx.reference.op_run import OpRun
from onnx.reference.ops._quant_utils import reshape_input

from assay.numerics.oracle.chunked import in_chunks
from assay.ports import Tensor


class DequantizeLinear(OpRun):
    """(x - zero_point) * scale; onnx.reference goes through float32, which int32 does not fit into, and 1.23.2 has none for models
    of before opset 19. Of the type that the node
    names, where it names one, and else (and with `one_type`) of the scale's."""

    op_domain = ""
    one_type = False

    def _run(
        self,
        x: Tensor,
        scale: Tensor,
        zero_point: Tensor | None = None,
        axis: int = 1,
        block_size: int = 0,
        output_dtype: int = 0,
    ) -> tuple[Tensor]:
        # Sixteen bits and the digits of a float32 fit into one rounding, which is the same in either type.
        exact = x.dtype.itemsize <= 2 and scale.dtype == np.float32
        wide: Tensor = np.empty(x.shape, np.float32 if exact else np.float64)
        by = reshape_input(scale, x.shape, axis, block_size)
        zero = None if zero_point is None else reshape_input(zero_point, x.shape, axis, block_size).astype(wide.dtype)
        for part in in_chunks(x.shape, np.broadcast_shapes(np.shape(by), np.shape(zero) if zero is not None else ())):
            wide[part] = x[part]
            if zero is not None:
                wide[part] -= zero
            wide[part] *= by
        real = scale.dtype.name in ("float64", "float32", "float16", "bfloat16")  # and not the powers of two of a block
        named = (
            onnx.helper.tensor_dtype_to_np_dtype(output_dtype)
            if output_dtype and (not self.one_type or not real)
            else scale.dtype
        )
        return (wide.astype(named, copy=False),)
