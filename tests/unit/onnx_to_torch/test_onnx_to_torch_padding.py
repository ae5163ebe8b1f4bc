"""Padding that mirrors and wraps, in a runtime whose remainder has the sign of the dividend (ExecuTorch 1.4: an index of -128)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from assay.onnx_to_torch.operators.rearranging import _mirrored


@pytest.mark.parametrize(("low", "high"), [(3, 2), (0, 4), (4, 0), (9, 11)])
@pytest.mark.parametrize("mode", ["reflect", "wrap", "edge"])
def test_no_index_depends_on_the_sign_of_a_remainder(
    monkeypatch: pytest.MonkeyPatch, mode: Any, low: int, high: int
) -> None:
    values = np.arange(5.0, dtype=np.float32)
    monkeypatch.setattr(torch, "remainder", torch.fmod)
    padded = _mirrored(None, torch.from_numpy(values), 0, low, high, mode)  # type: ignore[arg-type]
    np.testing.assert_array_equal(padded.numpy(), np.pad(values, (low, high), mode=mode))
