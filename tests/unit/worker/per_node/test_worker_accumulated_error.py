"""The engine's tensors against the float model's, and what each node adds."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

from assay.worker.per_node.accumulated_error import Accumulated, accumulated_errors, added_errors

FLOAT = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[4] x) => (float[4] y) { a = Mul(x, x)  r = Relu(a)  y = Neg(r) }"""
# The quantizer has taken out the Relu: the grid has no negative values.
QUANTIZED = """<ir_version: 10, opset_import: ["" : 21]>
    g (float[4] x) => (float[4] y) <float s = {0.5}, uint8 z = {0}>
    { r = Mul(x, x)  q = QuantizeLinear(r, s, z)  d = DequantizeLinear(q, s, z)
      e = Neg(d)  f = QuantizeLinear(e, s, z)  y = DequantizeLinear(f, s, z) }"""


def _saved(text: str, folder: Path) -> Path:
    path = folder / "float.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    return path


def test_the_error_of_a_tensor_is_against_the_float_model_in_double(tmp_path: Path) -> None:
    graph = onnx.parser.parse_model(FLOAT)
    x = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    right = {"a": x * x, "r": x * x, "y": -x * x}
    off = {**right, "r": x * x + np.float32(1.0)}
    exact = accumulated_errors(graph, _saved(FLOAT, tmp_path), [{"x": x}], [right])
    assert {error.sqnr_db for error in exact.values()} == {math.inf}
    errors = accumulated_errors(graph, _saved(FLOAT, tmp_path), [{"x": x}], [off])
    assert errors["r"].max_abs == 1.0
    assert errors["r"].sqnr_db == pytest.approx(10 * math.log10(354 / 4))
    assert errors["r"].rel_l2 == pytest.approx(math.sqrt(4 / 354))
    assert errors["y"].sqnr_db == math.inf
    added = added_errors(graph.graph.node, errors)
    assert added == {"a": 0.0, "r": pytest.approx(math.sqrt(4 / 354)), "y": 0.0}


def test_a_tensor_that_is_only_read_by_a_grid_counts_as_its_readers_get_it(tmp_path: Path) -> None:
    """Before the grid it has the float Relu's name and not its values."""
    x = np.array([1.0, 2.0, 3.0, 4.0], np.float32)
    engine = {
        "r": x * x - np.float32(20.0), "q": np.zeros(4, np.uint8), "d": x * x, "e": -x * x - np.float32(9.0),
        "f": np.zeros(4, np.uint8), "y": -x * x + np.float32(2.0),
    }  # fmt: skip
    graph = onnx.parser.parse_model(QUANTIZED)
    errors = accumulated_errors(graph, _saved(FLOAT, tmp_path), [{"x": x}], [engine])
    assert errors["r"].sqnr_db == math.inf
    assert errors["e"].max_abs == 2.0  # the end has its name behind the last grid
    assert set(errors) == {"r", "e"}
    assert added_errors(graph.graph.node, errors)["e"] == pytest.approx(math.sqrt(16 / 354))


def test_other_sizes_and_whole_numbers_have_no_error(tmp_path: Path) -> None:
    x = np.ones(4, np.float32)
    engine = {"a": np.ones((2, 2), np.float32), "r": np.ones(4, np.int64), "y": x}
    errors = accumulated_errors(onnx.parser.parse_model(FLOAT), _saved(FLOAT, tmp_path), [{"x": x}], [engine])
    assert set(errors) == {"y"}
    assert errors["y"].cosine == pytest.approx(-1.0)


def test_a_model_without_evaluation_in_double_has_none(tmp_path: Path) -> None:
    text = """<ir_version: 10, opset_import: ["" : 21, "none.such" : 1]>
        g (float[4] x) => (float[4] y) { y = none.such.Op(x) }"""
    x = np.ones(4, np.float32)
    assert accumulated_errors(onnx.parser.parse_model(text), _saved(text, tmp_path), [{"x": x}], [{"y": x}]) == {}


def test_a_node_adds_what_its_inputs_do_not_have() -> None:
    graph = onnx.parser.parse_model(FLOAT)
    errors = {"a": Accumulated(40.0, 1.0, 0.1), "r": Accumulated(20.0, 1.0, 0.1), "y": Accumulated(30.0, 1.0, 0.1)}
    added = added_errors(graph.graph.node, errors)
    assert added["a"] == pytest.approx(0.01)
    assert added["r"] == pytest.approx(math.sqrt(0.01 - 0.0001))
    assert added["y"] == 0.0
