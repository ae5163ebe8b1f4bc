"""Windows with the other coefficients of the paper that the standard names (Harris, Proc. IEEE 66(1), 1978): it has exact and rounded ones,
onnx's evaluation takes the exact ones of Hamming's and the rounded ones of Blackman's, and torch the rounded ones of both."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="no-untyped-call,misc,override"

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.ops.op_blackman_window import BlackmanWindow as RoundedBlackman
from onnx.reference.ops.op_hamming_window import HammingWindow as ExactHamming

from assay.ports import Tensor


class HammingWindow(ExactHamming):
    """0.54 in place of 25/46."""

    op_domain = ""

    def _run(self, size: Any, output_datatype: Any = None, periodic: Any = None) -> Any:
        return self._end(size, _cosines(size, periodic, (0.54, 0.46)), output_datatype)


class BlackmanWindow(RoundedBlackman):
    """7938/18608 in place of 0.42, and so on."""

    op_domain = ""

    def _run(self, size: Any, output_datatype: Any = None, periodic: Any = None) -> Any:
        exact = (7938 / 18608, 9240 / 18608, 1430 / 18608)
        return self._end(size, _cosines(size, periodic, exact), output_datatype)


def _cosines(size: Any, periodic: Any, coefficients: Sequence[float]) -> Tensor:
    """a - b cos + c cos of the double angle."""
    angles = np.arange(size) * 2 * np.pi / (size - (periodic == 0))
    terms = [(-1) ** place * number * np.cos(place * angles) for place, number in enumerate(coefficients)]
    return np.asarray(sum(terms))
