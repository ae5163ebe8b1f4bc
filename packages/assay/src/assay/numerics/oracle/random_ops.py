"""Operators that draw at random and that onnx.reference 1.23 has no code for: values of the right kind, type and shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import TensorProto, helper
from onnx.reference.op_run import OpRun

from assay.ports import Tensor


class Multinomial(OpRun):
    """Multinomial-7: indices drawn by unnormalized log probabilities (Gumbel's maximum)."""

    op_domain = ""

    def _run(self, x: Tensor, dtype: Any = None, sample_size: Any = None, seed: Any = None) -> tuple[Tensor]:
        drawn = np.random.default_rng(None if seed is None else int(np.float32(seed).view(np.uint32)))
        shape = (x.shape[0], sample_size or 1, x.shape[1])
        with np.errstate(all="ignore"):
            drawn_classes = np.argmax(x.astype(np.float64)[:, None, :] + drawn.gumbel(size=shape), axis=-1)
        return (drawn_classes.astype(helper.tensor_dtype_to_np_dtype(dtype or TensorProto.INT32)),)
