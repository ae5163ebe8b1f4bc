"""What ai.onnx.ml does to scores, and the type that they are given in."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc"

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from assay.numerics.attributes import NotComputed
from assay.ports import Tensor


class Real(OpRun):
    """Computes in double and gives float32, or with `one_type` the type of a model that was widened."""

    op_domain = "ai.onnx.ml"
    one_type = False

    def given(self, value: Any, x: Tensor) -> Tensor:
        """In the type of the answer."""
        wide = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
        return np.asarray(value).astype(wide if self.one_type else np.float32)


def post_transformed(scores: Tensor, how: Any) -> Tensor:
    """Rows of scores under NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT. Raises NotComputed for any other."""
    with np.errstate(all="ignore"):
        match how:
            case None | "NONE":
                return scores
            case "LOGISTIC":
                return np.asarray(0.5 * (1 + np.tanh(0.5 * scores)))
            case "SOFTMAX" | "SOFTMAX_ZERO":
                powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
                if how == "SOFTMAX_ZERO":  # what is 0 stays 0
                    powers = np.where(np.abs(scores) > 1e-7, powers, 0.0)
                total = powers.sum(axis=-1, keepdims=True)
                return np.asarray(np.where(total == 0, 0.5, powers / np.where(total == 0, 1, total)))
            case "PROBIT":
                from scipy.special import ndtri

                return np.asarray(ndtri(scores))
    raise NotComputed(post_transform=how)
