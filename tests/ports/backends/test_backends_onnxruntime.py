"""ONNX Runtime itself: levels, types that numpy lacks, external data, and its real refusals."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay.backends.onnxruntime.backend import OnnxRuntime
from assay.backends.onnxruntime.saving import loading_level, make_loadable
from assay.backends.onnxruntime.session import session_options
from assay.core.engine_info import Placement
from assay.core.flow import Flow
from assay.errors import InvalidModel, Lowering, Unsupported
from assay.testing.tiny_models import INPUT, tiny_model

_FLOWS = {flow.name: flow for flow in OnnxRuntime.flows}
_FLOW = OnnxRuntime.flows[0]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


@pytest.mark.parametrize(
    ("flow", "operator", "device", "role"),
    [
        ("onnxruntime-disable", "Relu", "CPUExecutionProvider", "compute"),
        ("onnxruntime-extended", "FusedConv", "CPUExecutionProvider", "fused"),
    ],
)
def test_the_level_decides_what_runs(tmp_path: Path, flow: str, operator: str, device: str, role: str) -> None:
    engine = OnnxRuntime().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOWS[flow])
    assert engine.facts().placements == ()
    engine.run({INPUT: _IMAGE})
    facts = engine.facts()
    assert Placement(operator, device, "float32", 1, role) in facts.placements
    assert facts.precision == "float32"
    assert facts.undelegated == ()
    assert facts.options["optimization"] == flow.removeprefix("onnxruntime-")


def test_the_loaded_engine_is_the_optimized_one(tmp_path: Path) -> None:
    backend = OnnxRuntime()
    engine = backend.lower(tiny_model(tmp_path / "tiny.onnx"), _FLOWS["onnxruntime-extended"])
    folder = tmp_path / "saved"
    folder.mkdir()
    engine.save(folder)
    loaded = backend.load(folder, _FLOWS["onnxruntime-extended"])
    loaded.run({INPUT: _IMAGE})
    assert "FusedConv" in {placement.operator for placement in loaded.facts().placements}


def test_types_that_numpy_lacks(write: Any) -> None:
    names = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float16"]
    kinds = ["bfloat16", "float8e4m3fn", "float8e5m2", "int4", "uint4", "float16"]
    values = np.array([1.0, 2.0, 3.0], np.float32)
    for name, kind in zip(names, kinds, strict=True):
        dtype = np.dtype(getattr(ml_dtypes, name, name))
        code = helper.np_dtype_to_tensor_dtype(dtype)
        out = OnnxRuntime().lower(write(f"g (float[n] x) => ({kind}[n] y) {{ y = Cast<to={code}>(x) }}"), _FLOW)
        y = out.run({"x": values})["y"]
        assert y.dtype == dtype, name
        assert y.astype(np.float32).tolist() == [1.0, 2.0, 3.0], name
        into = OnnxRuntime().lower(write(f"g ({kind}[n] x) => (float[n] y) {{ y = Cast<to=1>(x) }}"), _FLOW)
        assert into.run({"x": y})["y"].tolist() == [1.0, 2.0, 3.0], name
        assert out.run({"x": values[:0]})["y"].shape == (0,), name


def test_text(write: Any) -> None:
    engine = OnnxRuntime().lower(write("g (string[n] x) => (string[n] y) { y = Identity(x) }"), _FLOW)
    assert engine.run({"x": np.array(["a", "bé"])})["y"].tolist() == ["a", "bé"]


def test_external_data(tmp_path: Path) -> None:
    weights = numpy_helper.from_array(np.arange(4096, dtype=np.float32), "w")
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4096]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = tmp_path / "model.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    engine = OnnxRuntime().lower(path, _FLOW)
    assert engine.run({"x": np.ones(4096, np.float32)})["y"][-1] == 4096
    (tmp_path / "weights.bin").unlink()
    with pytest.raises(Lowering, match=r"weights\.bin"):
        OnnxRuntime().lower(path, _FLOW)


def test_opset_too_new(write: Any) -> None:
    path = write("g (float[1] x) => (float[1] y) { y = Relu(x) }", opset=28, ir=10)
    with pytest.raises(Unsupported, match="till opset 26") as caught:
        OnnxRuntime().lower(path, _FLOW)
    assert caught.value.cause == "opset_too_new"


def test_ir_too_new(write: Any) -> None:
    with pytest.raises(Unsupported, match="Unsupported model IR version: 14") as caught:
        OnnxRuntime().lower(write("g (float[1] x) => (float[1] y) { y = Relu(x) }", ir=14), _FLOW)
    assert caught.value.cause == "opset_too_new"


def test_custom_domain(write: Any) -> None:
    text = "g (float[1] x) => (float[1] y) { y = my.domain.Fancy(x) }"
    with pytest.raises(Unsupported, match="Fancy") as caught:
        OnnxRuntime().lower(write(text, more=', "my.domain" : 1'), _FLOW)
    assert "Fancy" in caught.value.node


def test_no_kernel(write: Any) -> None:
    path = write("g (bfloat16[1] x) => (bfloat16[1] y) { [sine] y = Sin(x) }", opset=22)
    with pytest.raises(Unsupported, match="Could not find an implementation for Sin") as caught:
        OnnxRuntime().lower(path, _FLOW)
    assert caught.value.node == "sine"


def test_shapes_that_do_not_fit(write: Any) -> None:
    path = write("g (float[2, 4] x, float[5, 2] w) => (float[2, 2] y) { [product] y = MatMul(x, w) }")
    with pytest.raises(InvalidModel, match="Incompatible dimensions") as caught:
        OnnxRuntime().lower(path, _FLOW)
    assert caught.value.node == "product"


def test_too_large_for_memory(write: Any) -> None:
    engine = OnnxRuntime().lower(write("g (int64[2] s) => (float[a, b] y) { y = ConstantOfShape(s) }"), _FLOW)
    with pytest.raises(MemoryError, match="Failed to allocate memory"):
        engine.run({"s": np.array([1 << 22, 1 << 22], np.int64)})


def test_a_wrong_input_is_an_error_of_the_run(tmp_path: Path) -> None:
    engine = OnnxRuntime().lower(tiny_model(tmp_path / "tiny.onnx"), Flow(name="x", backend="onnxruntime"))
    with pytest.raises(Lowering, match="Got invalid dimensions"):
        engine.run({INPUT: _IMAGE[:, :2]})


def _newer(saved: bytes) -> bytes:
    """As a later version of ONNX Runtime might save it."""
    proto = onnx.load_from_string(saved)
    proto.ir_version = 99
    return proto.SerializeToString()


@pytest.mark.parametrize("how", ["cut", "empty", "noise", "of a later version"])
def test_a_saved_engine_that_cannot_be_loaded_is_told_in_one_sentence(tmp_path: Path, how: str) -> None:
    OnnxRuntime().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW).save(tmp_path)
    saved = tmp_path / "model.onnx"
    whole = saved.read_bytes()
    changed = {"cut": whole[:-7], "empty": b"", "noise": b"noise" * 100, "of a later version": _newer(whole)}
    saved.write_bytes(changed[how])
    with pytest.raises(InvalidModel) as caught:
        OnnxRuntime().load(tmp_path, _FLOW)
    text = str(caught.value)
    assert text.startswith("onnxruntime cannot load this saved engine (")
    assert text.endswith("): build it again with this version, here")


@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_exact_sums_of_bytes_saturate_on_no_processor(write: Any, kind: str) -> None:
    """On x86 without VNNI ONNX Runtime's own default adds two products in 16 bits."""
    flow = Flow("exact", "onnxruntime", {"int8_sums": "exact"})
    w = ", ".join(["127"] * 64 * 2)
    text = f"g ({kind}[1, 64] x) => (int32[1, 2] y) <int8[64, 2] w = {{{w}}}> {{ y = MatMulInteger(x, w) }}"
    largest = np.full((1, 64), np.iinfo(kind).max, kind)
    expected = 64 * 127 * np.iinfo(kind).max
    assert OnnxRuntime().lower(write(text), flow).run({"x": largest})["y"].tolist() == [[expected, expected]]


def test_a_multiplication_of_bytes_is_int8_whatever_it_puts_out(write: Any) -> None:
    text = "g (uint8[n, 4] x) => (int32[n, 2] y) <int8[4, 2] w = {1, 2, 3, 4, 5, 6, 7, 8}> { y = MatMulInteger(x, w) }"
    engine = OnnxRuntime().lower(write(text), _FLOW)
    engine.run({"x": np.ones((1, 4), np.uint8)})
    assert [(placement.operator, placement.precision, placement.role) for placement in engine.facts().placements] == [
        ("MatMulInteger", "uint8", "compute")
    ]


def test_a_node_that_runs_often_is_one_operator(write: Any) -> None:
    text = """g (float[1] x, int64 times, bool go) => (float[1] y) {
        y = Loop<body = body (int64 i, bool on, float[1] a) => (bool still, float[1] b) {
            still = Identity(on)
            b = Add(a, a)
        }>(times, go, x)
    }"""
    engine = OnnxRuntime().lower(write(text), _FLOW)
    engine.run({"x": np.ones(1, np.float32), "times": np.array(5), "go": np.array(True)})
    counts = {placement.operator: placement.count for placement in engine.facts().placements}
    assert counts["Add"] == 1


def test_a_convolution_that_took_its_activation_in_is_fused_in_every_layout(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "tiny.onnx")
    for flow, fused in (("onnxruntime", 1), ("onnxruntime-extended", 1), ("onnxruntime-disable", 0)):
        folder = tmp_path / flow
        folder.mkdir()
        OnnxRuntime().lower(model, _FLOWS[flow]).save(folder)
        engine = OnnxRuntime().load(folder, _FLOWS[flow])
        engine.run({INPUT: _IMAGE})
        assert sum(placement.count for placement in engine.facts().placements if placement.role == "fused") == fused, (
            flow
        )


_BRANCHES = """
g (bool[] c, float[3] x) => (float[3] y) {
    y = If (c) <
        then_branch = outer () => (float[3] p) {
            p = If (c) <
                then_branch = inner () => (float[3] q) { w = Constant <value = float[1] {1.0}> () q = Add (x, w) },
                else_branch = other () => (float[3] r) { r = Relu (x) }
            >
        },
        else_branch = last () => (float[3] s) { s = Neg (x) }
    >
}
"""


def test_a_graph_that_it_writes_and_cannot_load_is_written_otherwise(write: Any, tmp_path: Path) -> None:
    """Constants of branches of branches (docs/findings/onnxruntime-saved-constant-of-a-branch.py): in one file they load."""
    flow = _FLOWS["onnxruntime-disable"]
    engine = OnnxRuntime().lower(write(_BRANCHES), flow)
    folder = tmp_path / "saved"
    folder.mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        engine.save(folder)
    y = OnnxRuntime().load(folder, flow).run({"c": np.array(True), "x": np.ones(3, np.float32)})["y"]
    assert y.tolist() == [2, 2, 2]
    assert [file.name for file in folder.iterdir()] == ["model.onnx"]


def test_where_no_form_loads_the_artifact_is_the_model_itself(tmp_path: Path) -> None:
    model = tiny_model(tmp_path / "tiny.onnx")

    def refusing(level: str | None) -> Any:
        """Options under which no ONNX file loads, but where the graph is written."""
        made = session_options(level or "all", 1, {"int8_sums": "fast", "disabled_optimizers": "", "prepacking": True})
        if level:
            made.add_session_config_entry("session.load_model_format", "ORT")
        return made

    folder = tmp_path / "saved"
    folder.mkdir()
    OnnxRuntime().lower(model, _FLOW).save(folder)
    assert loading_level(folder, "all") == "disable"
    with pytest.warns(UserWarning, match=r"optimized_not_loadable .*1\."):
        make_loadable(folder, model, refusing)
    assert (folder / "model.onnx").read_bytes() == model.read_bytes()
    assert loading_level(folder, "all") == "all"
    assert OnnxRuntime().load(folder, _FLOW).run({INPUT: _IMAGE})


def test_an_output_of_another_shape_than_declared_can_be_measured(tmp_path: Path) -> None:
    """skl2onnx declares one column for a forest of three targets; memory bound to such an output fails in the second call."""
    x = np.zeros((1, 3), np.float32)
    path = tmp_path / "model.onnx"
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [None, 3]), ("y", [None, 1]))
    ]
    node = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0] * 3, scale=[1.0] * 3)
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    engine = OnnxRuntime().lower(path, _FLOW)
    assert engine.run({"x": x})["y"].shape == (1, 3)
    call = engine.bind({"x": x})
    for _ in range(3):
        call()
