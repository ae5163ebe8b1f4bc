"""The name that was probably meant: a slip of the finger is recognized, another word is not."""

from __future__ import annotations

import pytest

from assay.core.nearest_name import nearest

FLOWS = ("onnxruntime", "openvino", "openvino-f32", "tvm-llvm")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("onnxruntme", FLOWS, "onnxruntime"),
        ("openvno", FLOWS, "openvino"),
        ("htlm", ("html", "json", "junit"), "html"),
        ("digit.onnx", ("digits.onnx", "model.onnx"), "digits.onnx"),
        ("optimisation", ("optimization", "threads"), "optimization"),
        ("nope", FLOWS, ""),
    ],
)
def test_nearest(name: str, known: tuple[str, ...], meant: str) -> None:
    assert nearest(name, known) == meant
