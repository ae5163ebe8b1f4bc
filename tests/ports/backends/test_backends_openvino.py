"""OpenVINO itself: the actual precision, names, and inputs it would not survive."""

from __future__ import annotations

import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

from assay.backends.openvino.backend import OpenVINO
from assay.core.flow import Flow
from assay.errors import InvalidModel, Unsupported
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model

_FLOWS = {flow.name: flow for flow in OpenVINO.flows}
_FLOW = OpenVINO.flows[0]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


def test_float32_is_float32(tmp_path: Path) -> None:
    engine = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    scores = engine.run({INPUT: _IMAGE})["scores"]
    np.testing.assert_allclose(scores, tiny_expected(_IMAGE)["scores"], rtol=1e-5, atol=1e-6)
    facts = engine.facts()
    assert facts.precision == "float32"
    assert {placement.precision for placement in facts.placements if placement.operator == "Convolution"} == {"float32"}
    assert facts.options["threads"] == "1"


def test_an_engine_keeps_its_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """2023.0 knows no property of a compiled model whose core is gone: every check ended there."""
    cores = []

    class Core(openvino.Core):
        def __init__(self) -> None:
            super().__init__()
            cores.append(weakref.ref(self))

    names = {**vars(openvino), "Core": Core}
    monkeypatch.setattr("assay.backends.openvino.backend.library", lambda: SimpleNamespace(**names))
    lowered = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    lowered.save(tmp_path)
    loaded = OpenVINO().load(tmp_path, _FLOW)
    assert [core() is not None for core in cores] == [True, True]
    assert loaded.facts().precision == lowered.facts().precision


@pytest.mark.parametrize("asked", ["bfloat16", "float16"])
def test_the_actual_precision_is_reported(tmp_path: Path, asked: str) -> None:
    """A processor without bfloat16 gives float32, one without float16 arithmetic gives bfloat16: the facts agree with
    what the convolution really did."""
    flow = Flow(name="low", backend="openvino", options={"precision": asked}, precision=asked)
    engine = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), flow)
    scores = engine.run({INPUT: _IMAGE})["scores"]
    facts = engine.facts()
    ran_in = {placement.precision for placement in facts.placements if placement.operator == "Convolution"}
    assert ran_in == {facts.precision}
    far = float(np.abs(scores - tiny_expected(_IMAGE)["scores"]).max())
    assert (far < 1e-5) == (facts.precision == "float32")


def test_several_names_of_one_tensor(write: Any) -> None:
    text = "g (float[n] x) => (float[n] d, float[n] a, float[n] c) { a = Relu(x)\n d = Identity(a)\n c = Identity(x) }"
    outputs = OpenVINO().lower(write(text), _FLOW).run({"x": np.array([-1.0, 2.0], np.float32)})
    assert {name: array.tolist() for name, array in outputs.items()} == {"d": [0, 2], "a": [0, 2], "c": [-1, 2]}
    assert list(outputs) == ["d", "a", "c"]


def test_two_outputs_that_openvino_takes_for_one_tensor(write: Any) -> None:
    text = "g (float[2] x) => (float[2] d, float[2] c) { c = Cos(x)\n d = Dropout(c) }"
    outputs = OpenVINO().lower(write(text), _FLOW).run({"x": np.array([0.0, 1.0], np.float32)})
    assert {*outputs} == {"d", "c"}
    np.testing.assert_allclose(outputs["d"], np.cos([0, 1]), rtol=1e-5)
    np.testing.assert_array_equal(outputs["d"], outputs["c"])


def _reloaded(model: Path, folder: Path) -> Any:
    folder.mkdir()
    OpenVINO().lower(model, _FLOW).save(folder)
    return OpenVINO().load(folder, _FLOW)


def test_inputs_keep_their_names_through_aliases_and_the_artifact(write: Any, tmp_path: Path) -> None:
    x = np.array([-1.0, 2.0], np.float32)
    aliased = write("g (float[n] x) => (float[n] y) { h = Identity(x)\n y = Relu(h) }")
    assert _reloaded(aliased, tmp_path / "a").run({"x": x})["y"].tolist() == [0, 2]
    straight = write("g (float[n] x) => (float[n] y) { y = Identity(x) }")
    assert _reloaded(straight, tmp_path / "b").run({"x": x})["y"].tolist() == [-1, 2]


def test_an_input_that_no_node_reads_is_taken_and_ignored(write: Any, tmp_path: Path) -> None:
    x = np.array([-1.0, 2.0], np.float32)
    engine = _reloaded(write("g (float[n] x, float[m] unread) => (float[n] y) { y = Relu(x) }"), tmp_path / "c")
    assert engine.run({"x": x, "unread": np.ones(3, np.float32)})["y"].tolist() == [0, 2]
    with pytest.raises(ValueError, match="no such input"):
        engine.run({"x": x, "unread": x, "unknown": x})


def test_types_that_numpy_lacks(write: Any) -> None:
    values = np.array([1.0, -2.0, 3.0], np.float32)
    for name, kind, code in [("bfloat16", "bfloat16", 16), ("float8_e4m3fn", "float8e4m3fn", 17), ("int4", "int4", 22)]:
        engine = OpenVINO().lower(write(f"g (float[n] x) => ({kind}[n] y) {{ y = Cast<to={code}>(x) }}"), _FLOW)
        y = engine.run({"x": values})["y"]
        assert y.dtype == np.dtype(getattr(ml_dtypes, name))
        assert y.astype(np.float32).tolist() == [1.0, -2.0, 3.0]
    engine = OpenVINO().lower(write("g (bfloat16[n] x) => (float[n] y) { y = Cast<to=1>(x) }"), _FLOW)
    assert engine.run({"x": values.astype(ml_dtypes.bfloat16)})["y"].tolist() == [1.0, -2.0, 3.0]


def test_results_are_copies(tmp_path: Path) -> None:
    engine = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    first = engine.run({INPUT: _IMAGE})["scores"]
    kept = first.copy()
    engine.run({INPUT: _IMAGE * 2})
    assert np.array_equal(first, kept)


@pytest.mark.parametrize("wrong", [_IMAGE[:, :2], _IMAGE.astype(np.float64), _IMAGE[0]])
def test_inputs_it_would_misread_are_refused(tmp_path: Path, wrong: np.ndarray[Any, Any]) -> None:
    engine = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    with pytest.raises(ValueError, match='Input "image"'):
        engine.run({INPUT: wrong})


def test_text_is_refused(write: Any) -> None:
    with pytest.raises(Unsupported, match="does not pass through openvino"):
        OpenVINO().lower(write("g (string[n] x) => (string[n] y) { y = Identity(x) }"), _FLOW)


def test_sparse_weights_are_not_supported(tmp_path: Path) -> None:
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [3.0])
    stored = helper.make_sparse_tensor(values, helper.make_tensor("at", TensorProto.INT64, [1], [1]), [2])
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], sparse_initializer=[stored])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "sparse.onnx")
    with pytest.raises(Unsupported, match="isn't found") as raised:
        OpenVINO().lower(tmp_path / "sparse.onnx", _FLOW)
    assert raised.value.node == "w"


def test_custom_domain(write: Any) -> None:
    text = "g (float[1] x) => (float[1] y) { y = my.domain.Fancy(x) }"
    with pytest.raises(Unsupported, match=r"my\.domain\.Fancy") as caught:
        OpenVINO().lower(write(text, more=', "my.domain" : 1'), _FLOW)
    assert caught.value.node == "my.domain.Fancy"


def test_shapes_that_do_not_fit(write: Any) -> None:
    with pytest.raises(InvalidModel, match="MatMul"):
        OpenVINO().lower(write("g (float[2, 4] x, float[5, 2] w) => (float[2, 2] y) { y = MatMul(x, w) }"), _FLOW)


def test_too_large_for_memory(write: Any) -> None:
    text = """g (float[1] x) => (float[a, b, c] y) {
        s = Constant<value_ints=[1048576, 1048576, 4]>()
        y = ConstantOfShape(s)
    }"""
    with pytest.raises(MemoryError, match="bad_alloc"):
        OpenVINO().lower(write(text), _FLOW)


def _damaged(blob: bytes, how: str) -> bytes:
    return {
        "cut": blob[: len(blob) // 2],
        "empty": b"",
        "noise": b"noise" * 100,
        "of another version": blob.replace(b";ov=20", b";ov=19", 1),
    }[how]


@pytest.mark.parametrize("how", ["cut", "empty", "noise", "of another version", "without its names"])
def test_a_saved_engine_that_cannot_be_loaded_is_told_in_one_sentence(tmp_path: Path, how: str) -> None:
    OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW).save(tmp_path)
    blob = tmp_path / "model.blob"
    if how == "without its names":
        (tmp_path / "declared.json").unlink()
    else:
        blob.write_bytes(_damaged(blob.read_bytes(), how))
    with pytest.raises(InvalidModel) as caught:
        OpenVINO().load(tmp_path, _FLOW)
    text = str(caught.value)
    assert text.startswith("openvino cannot load this saved engine (")
    assert text.endswith("): build it again with this version, here")
    assert "\n" not in text
    assert ".cpp:" not in text


def test_left_alone_it_would_compute_in_bfloat16(tmp_path: Path) -> None:
    """The trap: on processors that can, the default is not float32. The flow asks, and what it got is read back."""
    import openvino

    model = tiny_model(tmp_path / "tiny.onnx")
    core = openvino.Core()
    default = core.compile_model(core.read_model(str(model)), "CPU").get_property("INFERENCE_PRECISION_HINT")
    if default != openvino.Type.bf16:
        pytest.skip("this processor has no bfloat16")
    far = {}
    for name in ("openvino-f32", "openvino-bf16"):
        engine = OpenVINO().lower(model, _FLOWS[name])
        scores = engine.run({INPUT: _IMAGE})["scores"]
        far[name] = float(np.abs(scores - tiny_expected(_IMAGE)["scores"]).max())
        assert engine.facts().precision == {"openvino-f32": "float32", "openvino-bf16": "bfloat16"}[name]
    assert far["openvino-f32"] < 1e-5 < 1e-4 < far["openvino-bf16"]


def test_a_flow_that_was_not_asked_for_float32_is_told_by_what_it_got(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the flow asked for nothing: the facts are what the compiled model says, not what the option says."""
    import openvino

    from assay.backends.openvino import backend

    model = tiny_model(tmp_path / "tiny.onnx")
    core = openvino.Core()
    compiled = core.compile_model(core.read_model(str(model)), "CPU")
    default = {openvino.Type.bf16: "bfloat16", openvino.Type.f32: "float32", openvino.Type.f16: "float16"}
    monkeypatch.setattr(backend, "_config", lambda options, flow: {"INFERENCE_NUM_THREADS": 1})
    facts = OpenVINO().lower(model, _FLOWS["openvino-f32"]).facts()
    assert facts.precision == default[compiled.get_property("INFERENCE_PRECISION_HINT")]
    assert {placement.precision for placement in facts.placements if placement.operator == "Convolution"} == {
        facts.precision
    }


def test_nodes_tell_their_role(tmp_path: Path) -> None:
    engine = OpenVINO().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    roles = {placement.operator: placement.role for placement in engine.facts().placements}
    assert roles["Convolution"] == "fused"
    assert roles.get("Reorder", "reformat") == "reformat"
    assert all(roles.values())


_SPLIT = "g (int64[3,3] x) => (int64[3,3] y) { y = Trilu <upper = 0> (x) }"
_QUANTIZED = (
    "g (float[2,2] x) => (float[2,2] y) <float s = {0.05}, uint8 z = {0}, float[2,2] w = {1.0, -1.0, 0.5, 0.25}, int8 o = {0}> "
    "{ qx = QuantizeLinear(x, s, z)\n dx = DequantizeLinear(qx, s, z)\n "
    "qw = QuantizeLinear(w, s, o)\n dw = DequantizeLinear(qw, s, o)\n y = MatMul(dx, dw) }"
)


@pytest.mark.parametrize(
    ("text", "operator", "ran_in"), [(_SPLIT, "Eltwise", "bool"), (_QUANTIZED, "FullyConnected", "uint8")]
)
def test_a_mask_is_no_quantized_number(write: Any, tmp_path: Path, text: str, operator: str, ran_in: str) -> None:
    """OpenVINO splits Trilu into a comparison and a selection, and calls the mask u8, as it does what a quantizer made."""
    model = write(text)
    for engine in (OpenVINO().lower(model, _FLOW), _reloaded(model, tmp_path / "saved")):
        by_operator = {placement.operator: placement.precision for placement in engine.facts().placements}
        assert by_operator[operator] == ran_in
        assert ran_in == "uint8" or "uint8" not in by_operator.values()
