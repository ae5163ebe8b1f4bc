"""The model whose every answer is zero, by which a metric shows that it depends on the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx.reference import ReferenceEvaluator

from assay_zoo.metric_depends import silence

HEAD = '<ir_version: 8, opset_import: ["" : 17]> g '


@pytest.mark.parametrize(
    ("graph", "zero"),
    [
        ("(float[2] x) => (float[2] y) { y = Exp (x) }", 1),
        ("(float[2] x) => (int64[1] y) { a = Exp (x)\n y = ArgMax (a) }", 1),
        ("(float[2] x) => (bool[2] y) { y = Greater (x, x)\n z = Not (y) }", 1),
        ("(float[2] x) => (float[2] y, uint8[2] z) { y = Exp (x)\n z = Cast <to = 2> (y) }", 2),
        ("(float[2] x) => (string[2] y) { y = Cast <to = 8> (x) }", 0),
    ],
)
def test_every_answer_of_numbers_is_zero(tmp_path: Path, graph: str, zero: int) -> None:
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(HEAD + graph), str(path))
    before = path.read_bytes()
    assert silence(str(path)) == zero
    if not zero:
        assert path.read_bytes() == before
        return
    onnx.checker.check_model(str(path), full_check=True)
    for value in ReferenceEvaluator(str(path)).run(None, {"x": np.array([1, 2], np.float32)}):
        assert not np.any(value)
