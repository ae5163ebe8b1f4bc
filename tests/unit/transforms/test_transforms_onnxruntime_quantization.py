"""What the quantizers of ONNX Runtime leave behind stays in the folder of the job."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

from assay.errors import Unsupported
from assay.transforms import onnxruntime_quantization
from assay.transforms.int8_dynamic import Int8Dynamic
from assay.transforms.int8_qdq import Int8Qdq
from assay.transforms.onnxruntime_quantization import prepared
from small_models import linear_model


def test_what_preparation_leaves_in_the_current_directory_is_in_the_folder_of_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its symbolic shapes write the model beside them where they fail."""
    here, folder = tmp_path / "here", tmp_path / "job"
    here.mkdir()
    folder.mkdir()
    linear_model(here / "m.onnx")
    monkeypatch.chdir(here)

    def fails(*_: object, **__: object) -> None:
        Path("sym_shape_infer_temp.onnx").touch()
        raise RuntimeError("incomplete symbolic shape inference")

    monkeypatch.setattr(SymbolicShapeInference, "infer_shapes", fails)
    ready = prepared(Path("m.onnx"), folder, "int8-qdq")
    assert ready.is_file()
    assert os.listdir(here) == ["m.onnx"]
    assert Path.cwd() == here


def test_weights_that_lie_beside_the_model_come_with_it_where_symbolic_shapes_fail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, model = tmp_path / "job", tmp_path / "m.onnx"
    folder.mkdir()
    linear_model(model)
    proto = onnx.load(model)
    given = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    onnx.save(proto, model, save_as_external_data=True, location="m.onnx.data", size_threshold=0)

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("incomplete symbolic shape inference")

    monkeypatch.setattr(SymbolicShapeInference, "infer_shapes", fails)
    ready = onnx.load(prepared(model, folder, "int8-qdq"))
    stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in ready.graph.initializer}
    assert all(np.array_equal(stored[name], array) for name, array in given.items())


SHARED_BIAS = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] bias2)
<float[2, 2, 1, 1] w = {1, 2, 3, 4}, float[2, 2, 1, 1] v = {4, 3, 2, 1}, float[2] bias = {1, 2}>
{ [first] a = Conv (x, w, bias)
  [second] b = Conv (a, v, bias)
  [third] bias1 = Relu (b)
  [fourth] bias2 = Conv (bias1, w, bias) }"""


def test_a_bias_that_several_convolutions_share_has_no_name_of_another_value(tmp_path: Path) -> None:
    """The quantizer calls its copies by the next number: `bias0`, `bias1`, whatever has that name."""
    model = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(SHARED_BIAS), model)
    samples = [{"x": np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)}]
    folder = tmp_path / "job"
    folder.mkdir()
    written = Int8Qdq().apply(model, folder, "per-tensor", samples)
    onnx.checker.check_model(str(written), full_check=True)
    float_session, session = (onnxruntime.InferenceSession(str(path)) for path in (model, written))
    (expected,), (quantized,) = (run_session.run(None, samples[0]) for run_session in (float_session, session))
    assert np.abs(quantized - expected).max() < 0.1 * np.abs(expected).max()


SHARED_SHIFT = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1, 2, 4, 4] x) => (float[1, 2, 4, 4] out)
<float[2] scale = {1, 2}, float[2] val_1 = {1, 2}>
{ [first] a = InstanceNormalization (x, scale, val_1)
  [second] b = Relu (a)
  [third] c = InstanceNormalization (b, scale, val_1)
  [fourth] val_11 = Relu (c)
  [fifth] val_12 = InstanceNormalization (val_11, scale, val_1)
  [sixth] out = Sub (val_12, val_11) }"""


def test_normalizations_share_what_they_add_like_convolutions(tmp_path: Path) -> None:
    """Torch's exporter calls values `val_8` and `val_81`."""
    model = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(SHARED_SHIFT), model)
    samples = [{"x": np.random.default_rng(0).standard_normal((1, 2, 4, 4)).astype(np.float32)}]
    folder = tmp_path / "job"
    folder.mkdir()
    written = Int8Qdq().apply(model, folder, "per-tensor", samples)
    float_session, session = (onnxruntime.InferenceSession(str(path)) for path in (model, written))
    (expected,), (quantized,) = (run_session.run(None, samples[0]) for run_session in (float_session, session))
    assert np.abs(quantized - expected).max() < 0.1 * np.abs(expected).max()


TURNED = """<ir_version: 8, opset_import: ["" : 17]>
g (float[3, 2] x) => (float[6, 4] out)
<int64 times = {2}, float[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}>
{ y = Gemm <transB = 1> (x, w)
  none = SequenceEmpty ()
  rows = Loop (times, , none) <body = body (int64 at, bool before, seq(float[3, 4]) grown) => (bool after, seq(float[3, 4]) longer)
    { after = Identity (before)
      longer = SequenceInsert (grown, y) }>
  out = ConcatFromSequence <axis = 0> (rows) }"""


def test_a_weight_whose_shape_is_said_twice_is_turned(tmp_path: Path) -> None:
    """Torch's exporter says it, and ONNX Runtime's optimizer keeps it in a model with sequences."""
    model, folder = onnx.parser.parse_model(TURNED), tmp_path / "job"
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [4, 2]))
    folder.mkdir()
    onnx.save(model, tmp_path / "m.onnx")
    written = Int8Dynamic().apply(tmp_path / "m.onnx", folder, "", [])
    sample = {"x": np.ones((3, 2), np.float32)}
    (answer,) = onnxruntime.InferenceSession(str(written)).run(None, sample)
    assert np.allclose(answer, np.tile([3, 7, 11, 15], (6, 1)), rtol=0.05)


def test_a_model_that_the_quantizer_breaks_is_not_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(SHARED_BIAS), model)
    monkeypatch.setattr(onnxruntime_quantization, "_give_each_its_bias", lambda path: None)
    with pytest.raises(Unsupported, match=r"int8-qdq made a model that contradicts itself, .* node 'fourth' \(Conv\)"):
        Int8Qdq().apply(model, tmp_path, "per-tensor", [{"x": np.ones((1, 2, 4, 4), np.float32)}])


def test_sparse_weights_are_quantized_as_dense_ones(tmp_path: Path) -> None:
    weight = np.diag(np.arange(1, 9)).astype(np.float32)
    values, places = weight[weight != 0], np.flatnonzero(weight)
    sparse = onnx.helper.make_sparse_tensor(
        onnx.numpy_helper.from_array(values, "w"), onnx.numpy_helper.from_array(places, "at"), [8, 8]
    )
    text = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 8] x) => (float[2, 8] y) { y = MatMul (x, w) }'
    model = onnx.parser.parse_model(text)
    model.graph.sparse_initializer.append(sparse)
    onnx.save(model, tmp_path / "m.onnx")
    sample = {"x": np.random.default_rng(0).standard_normal((2, 8)).astype(np.float32)}
    for transform in (Int8Dynamic(), Int8Qdq()):
        folder = tmp_path / transform.name
        folder.mkdir()
        session = onnxruntime.InferenceSession(str(transform.apply(tmp_path / "m.onnx", folder, "", [sample])))
        assert np.allclose(session.run(None, sample)[0], sample["x"] @ weight, atol=0.3)
