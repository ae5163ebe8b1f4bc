"""Models as exporters write them: open sizes, and shapes that are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.generators.case_values import CaseValues
from assay.generators.equal_models import EqualModels
from assay.generators.known_sizes import with_known_sizes
from assay.generators.mined import decode, encode, mine_folder

TEXT = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3, H, W] x) => (float[N, K] y)
{ a = MaxPool <kernel_shape = [4, 4], strides = [4, 4]> (x)
  b = Shape (a)  c = Cast <to = 6> (b)  d = Slice (c, zero, one, zero)  e = Cast <to = 7> (d)
  f = Concat <axis = 0> (e, rest)  h = Reshape (a, f)  y = Softmax <axis = -1> (h) }"""
CONSTANTS = {"zero": [0], "one": [1], "rest": [-1]}
BRANCH = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x, bool c) => (float[N, 3] y)
{ s = Shape (x)  t = Add (x, x)
  y = If (c) <then_branch = then () => (float[N, 3] p) { p = Relu (t) }, else_branch = other () => (float[N, 3] q) { q = Neg (x) }> }"""


@pytest.fixture
def model() -> onnx.ModelProto:
    parsed = parser.parse_model(TEXT)
    for name, numbers in CONSTANTS.items():
        parsed.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(numbers, np.int64), name))
    return parsed


def _operators(graph: onnx.GraphProto) -> list[str]:
    return [node.op_type for node in graph.node]


def test_what_computes_a_shape_becomes_a_constant(model: onnx.ModelProto) -> None:
    graph = with_known_sizes(model)
    assert _operators(graph) == ["MaxPool", "Reshape", "Softmax"]
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    assert stored["f"].tolist() == [1, -1]
    assert stored["f"].dtype == np.int64
    assert [axis.dim_value for axis in graph.input[0].type.tensor_type.shape.dim] == [1, 3, 16, 16]
    assert [axis.dim_value for axis in graph.output[0].type.tensor_type.shape.dim] == [1, 48]


def test_a_whole_model_with_a_computed_shape_is_changed_by_equalities(model: onnx.ModelProto, tmp_path: Path) -> None:
    onnx.save(model, str(tmp_path / "m.onnx"))
    near = tmp_path / "near.json"
    near.write_bytes(encode(mine_folder(tmp_path)))
    assert [pattern.whole for pattern in decode(near.read_bytes())].count(True) == 1
    generator = EqualModels().near(near)
    cases = [case for index in range(20) if (case := generator.make(5, index)) is not None]
    assert len(cases) == 20
    for case in cases[:5]:
        values = CaseValues(case)
        values.evaluate()
        pooled = case.inputs["x0"].reshape(3, 4, 4, 4, 4).max(axis=(2, 4)).reshape(1, 48).astype(np.float64)
        due = np.exp(pooled) / np.exp(pooled).sum()
        assert any(value.shape == due.shape and np.allclose(value, due) for value in values.wide.values())


def test_a_size_that_an_exporter_leaves_open_as_minus_one_is_open(model: onnx.ModelProto) -> None:
    for axis in (0, 2, 3):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_value = -1
    sizes = with_known_sizes(model).input[0].type.tensor_type.shape.dim
    assert [axis.dim_value for axis in sizes] == [1, 3, 16, 16]


def test_what_only_a_branch_reads_stays() -> None:
    assert _operators(with_known_sizes(parser.parse_model(BRANCH))) == ["Add", "If"]


def test_an_output_that_is_a_shape_stays_computed() -> None:
    text = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3] x) => (int64[2] s, float[N, 3] y)
    { s = Shape (x)  y = Relu (x) }"""
    assert _operators(with_known_sizes(parser.parse_model(text))) == ["Shape", "Relu"]
