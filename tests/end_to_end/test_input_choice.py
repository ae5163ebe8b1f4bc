"""What is fed where there is no golden: shown, and no engine is blamed for inputs that the graph does not take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

import assay
from assay.core.outcome import Outcome
from assay.errors import BadInputs
from assay.reports.used_inputs import source, used_inputs

STRIDES = """g (float[N, 1, H, 8] x, int64[N, 2] ids) => (float[N, 4, ?, ?] y) {
  small = MaxPool <kernel_shape=[2, 1], strides=[2, 1], ceil_mode=0> (x)
  large = Resize <mode="nearest"> (small, none, twice)
  sum = Add (x, large)
  rows = Gather (table, ids)
  flat = ReduceSum <keepdims=0> (rows)
  y = Mul (sum, flat)
}"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    proto = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {STRIDES}')
    weights = {
        "none": np.zeros(0, np.float32),
        "twice": np.array([1, 1, 2, 1], np.float32),
        "table": np.ones((3, 2), np.float32),
    }
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    onnx.save(proto, "m.onnx")
    return "m.onnx"


def test_what_was_fed_is_recorded(model: str) -> None:
    (result,) = assay.check(model, flows=["onnxruntime"], measure=False, dims={"H": "6,10"}).results
    assert result.outcome is Outcome.OK, result.detail
    assert {comparison.at for comparison in result.comparisons} == {"", "H=6", "H=10"}
    x, ids = result.inputs
    assert (x.shapes, source(x)) == (((1, 1, 6, 8),), "N=1; H=6; normal")
    assert used_inputs(ids) == "ids int64 [1, 2] from 0 to 2 (N=1; 0 to 2 (Gather 'Gather -> rows'))"


def test_an_engine_of_fixed_sizes_is_built_for_those_of_the_samples(tmp_path: Path) -> None:
    proto = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[N, 3, H, W] x) => (float[N, 3, H, W] y) {y = Relu(x)}'
    )
    proto.graph.input[0].type.tensor_type.shape.dim[3].ClearField("dim_param")
    onnx.save(proto, tmp_path / "m.onnx")
    (result,) = assay.check(tmp_path / "m.onnx", flows=["ncnn-f32"], measure=False, history=tmp_path / "h").results
    assert result.outcome is Outcome.OK, result.detail
    assert {name: size for name, size in result.facts.options.items() if name.startswith("size.")} == {
        "size.N": "1",
        "size.H": "16",
        "size.x[3]": "16",
    }


def test_sizes_that_the_graph_does_not_take_are_told_before_any_engine(model: str) -> None:
    with pytest.raises(BadInputs) as caught:
        assay.check(model, flows=["onnxruntime"], measure=False, dims={"H": 7})
    assert str(caught.value) == (
        "no inputs were found that m.onnx takes: Add 'Add -> sum': shapes [1, 1, 7, 8] and [1, 1, 6, 8] do not broadcast "
        "(tried with N=1, H=7); state other sizes with --dim H=SIZE, or give a golden with --golden"
    )


def test_a_stated_range_beyond_a_table_is_told(model: str) -> None:
    with pytest.raises(BadInputs, match="Gather 'Gather -> rows' takes 0 to 2 of input 'ids', and 0 to 5 is stated"):
        assay.check(model, flows=["onnxruntime"], measure=False, input_ranges={"ids": "0:5"})
