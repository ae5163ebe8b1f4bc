"""MNN itself: the weights that it stores, types that it does not have, and a converter that must not reach out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from assay.backends.converter import Converted
from assay.backends.mnn.backend import MNN
from assay.backends.mnn.errors import conversion_failure
from assay.core.flow import Flow
from assay.errors import InvalidModel, Lowering, Unsupported, UsageError
from assay.testing.backend_checks import check_backend
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model
from assay.worker.reference.reference_evaluation import evaluate

_FLOWS = {flow.name: flow for flow in MNN.flows}
_FLOW = MNN.flows[0]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


def test_conforms() -> None:
    check_backend(MNN())


@pytest.mark.parametrize(
    ("flow", "precision"), [("mnn-f32", "float32"), ("mnn-fp16", "float16"), ("mnn-int8-weights", "int8")]
)
def test_the_stored_weights_are_read_back(tmp_path: Path, flow: str, precision: str) -> None:
    engine = MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOWS[flow])
    far = float(np.abs(engine.run({INPUT: _IMAGE})["features"] - tiny_expected(_IMAGE)["features"]).max())
    facts = engine.facts()
    assert facts.precision == precision
    assert facts.weights == {precision: 2}
    assert (far < 1e-5) == (precision == "float32")
    assert {placement.operator: placement.count for placement in facts.placements}["Convolution"] == 2


def test_what_was_stored_is_told_not_what_was_asked(tmp_path: Path) -> None:
    """The flow says float32; the artifact in the folder has 8-bit weights."""
    MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOWS["mnn-int8-weights"]).save(tmp_path)
    assert MNN().load(tmp_path, _FLOW).facts().precision == "int8"


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_a_number_without_axes_goes_in_and_comes_out_as_one(tmp_path: Path, dtype: str) -> None:
    """It came out with an axis, as a wrong shape."""
    kind = {"float32": "float", "int64": "int64"}[dtype]
    path = tmp_path / "number.onnx"
    text = f'<ir_version: 8, opset_import: ["" : 14]> g ({kind}[] x) => ({kind}[] y) {{ y = Add(x, x) }}'
    onnx.save(onnx.parser.parse_model(text), path)
    answer = MNN().lower(path, _FLOW).run({"x": np.asarray(3, dtype)})["y"]
    assert (answer.shape, float(answer)) == ((), 6.0)


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3), ("RNN", 1)])
def test_recurrent_layers(write: Any, kind: str, gates: int, directions: int) -> None:
    """Converted as the vendor's program does by default, an LSTM kills it and a GRU cannot be run (3.6.1)."""
    steps, size, hidden = 6, 4, 5
    draw = np.random.default_rng(0)
    shapes = {"w": (gates * hidden, size), "r": (gates * hidden, hidden), "b": (2 * gates * hidden,)}
    weights = [
        onnx.numpy_helper.from_array(draw.normal(0, 0.3, (directions, *shape)).astype(np.float32), name)
        for name, shape in shapes.items()
    ]
    way = "forward" if directions == 1 else "bidirectional"
    reset = ", linear_before_reset = 1" if kind == "GRU" else ""
    path = write(
        f"""g (float[{steps}, 1, {size}] x) => (float[{steps}, {directions}, 1, {hidden}] y) {{
            y = {kind}<hidden_size = {hidden}, direction = "{way}"{reset}>(x, w, r, b)
        }}"""
    )
    model = onnx.load(path)
    model.graph.initializer.extend(weights)
    onnx.save(model, path)
    feeds = {"x": draw.normal(size=(steps, 1, size)).astype(np.float32)}
    (expected,) = evaluate(path, [feeds])
    np.testing.assert_allclose(MNN().lower(path, _FLOW).run(feeds)["y"], expected["y"], atol=1e-5)


def _off_by(write: Any, **options: Any) -> float:
    """Of its norm, a convolution of 5x5 that MNN does on tiles of 8x8 by default."""
    random = np.random.default_rng(5)
    path = write("g (float[1, 16, 32, 32] x) => (float[1, 16, 28, 28] y) { y = Conv(x, w) }")
    model = onnx.load(path)
    w = random.standard_normal((16, 16, 5, 5)).astype(np.float32) / 20
    model.graph.initializer.append(onnx.numpy_helper.from_array(w, "w"))
    onnx.save(model, path)
    feeds = {"x": random.standard_normal((1, 16, 32, 32)).astype(np.float32)}
    answer = MNN().lower(path, Flow("mnn", "mnn", options)).run(feeds)["y"]
    right = evaluate(path, [feeds])[0]["y"].astype(np.float64)
    return float(np.linalg.norm(answer - right) / np.linalg.norm(right))


def test_winograd_can_be_forbidden(write: Any) -> None:
    assert _off_by(write, winograd=False) < 2e-6
    assert _off_by(write) > 1e-5, "it is declared as an allowance for that reason"
    with pytest.raises(UsageError, match="session"):
        _off_by(write, winograd=False, api="module")


def test_the_converter_installs_and_sends_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The `mnnconvert` of the wheel (3.6.1) calls `pip install` on import."""
    pip = tmp_path / "bin" / "pip"
    pip.parent.mkdir()
    pip.write_text(f"#!/bin/sh\ntouch {tmp_path / 'called'}\n")
    pip.chmod(0o755)
    monkeypatch.setenv("PATH", str(pip.parent), prepend=":")
    MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW).facts()
    assert not (tmp_path / "called").exists()


def test_a_pool_after_a_convolution(tmp_path: Path) -> None:
    """MNN's module interface gives wrong numbers for it (3.6.1), its session right ones, at every size in turn."""
    engine = MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    for batch in (1, 5, 2):
        image = np.random.default_rng(batch).normal(size=(batch, 3, 8, 8)).astype(np.float32)
        np.testing.assert_allclose(engine.run({INPUT: image})["scores"], tiny_expected(image)["scores"], atol=1e-5)


def test_the_module_interface_runs_what_is_not_pooled(write: Any) -> None:
    flow = Flow(name="m", backend="mnn", options={"api": "module"})
    engine = MNN().lower(write("g (float[n] x) => (float[n] y) { y = Relu(x) }"), flow)
    assert engine.run({"x": np.array([-1, 2], np.float32)})["y"].tolist() == [0, 2]


def test_names_aliases_and_unread_inputs(write: Any) -> None:
    text = """g (float[n] x, float[m] unread) => (float[n] d, float[n] a, float[n] c) {
        a = Relu(x)
        d = Identity(a)
        c = Neg(x)
    }"""
    outputs = (
        MNN().lower(write(text), _FLOW).run({"x": np.array([-1.0, 2.0], np.float32), "unread": np.ones(3, np.float32)})
    )
    assert {name: array.tolist() for name, array in outputs.items()} == {"d": [0, 2], "a": [0, 2], "c": [1, -2]}
    assert list(outputs) == ["d", "a", "c"]


def test_integers_that_it_does_not_have(write: Any) -> None:
    engine = MNN().lower(write("g (int64[n] x) => (int64[n] y) { y = Add(x, x) }"), _FLOW)
    y = engine.run({"x": np.array([-3, 5], np.int64)})["y"]
    assert y.dtype == np.int64
    assert y.tolist() == [-6, 10]
    options = engine.facts().options
    assert (options["cast.x"], options["cast.y"]) == ("int64 -> int32 on the way in", "int32 -> int64 on the way out")
    with pytest.raises(ValueError, match="beyond int32"):
        engine.run({"x": np.array([-(2**31) - 1, 0], np.int64)})
    with pytest.raises(ValueError, match="beyond int32"):
        engine.run({"x": np.array([np.iinfo(np.int64).min, 0], np.int64)})
    assert engine.run({"x": np.array([-(2**30), 0], np.int64)})["y"].tolist() == [-(2**31), 0]


def test_bytes_and_bools(write: Any) -> None:
    engine = MNN().lower(write("g (uint8[n] x) => (float[n] y) { y = Cast<to=1>(x) }"), _FLOW)
    assert engine.run({"x": np.array([0, 200], np.uint8)})["y"].tolist() == [0, 200]
    engine = MNN().lower(write("g (float[n] x, float[n] z) => (bool[n] y) { y = Less(x, z) }"), _FLOW)
    y = engine.run({"x": np.array([1, 3], np.float32), "z": np.array([2, 2], np.float32)})["y"]
    assert (y.dtype, y.tolist()) == (np.dtype(bool), [True, False])


@pytest.mark.parametrize("wrong", [_IMAGE[:, :2], _IMAGE.astype(np.float64), _IMAGE[0]])
def test_inputs_it_would_misread_are_refused(tmp_path: Path, wrong: np.ndarray[Any, Any]) -> None:
    engine = MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    with pytest.raises(ValueError, match='Input "image"'):
        engine.run({INPUT: wrong})


def test_shapes_that_do_not_fit_each_other_do_not_give_old_numbers(write: Any) -> None:
    """runSession answers with a code and leaves the outputs as they were."""
    engine = MNN().lower(write("g (float[a, b] x, float[c, d] w) => (float[a, d] y) { y = MatMul(x, w) }"), _FLOW)
    assert engine.run({"x": np.ones((2, 3), np.float32), "w": np.ones((3, 2), np.float32)})["y"].tolist() == [
        [3, 3],
        [3, 3],
    ]
    with pytest.raises(Unsupported, match="no shape for MatMul 'y'"):
        engine.run({"x": np.ones((2, 3), np.float32), "w": np.ones((4, 2), np.float32)})


def test_a_type_without_a_counterpart(write: Any) -> None:
    with pytest.raises(Unsupported, match="float64"):
        MNN().lower(write("g (double[n] x) => (double[n] y) { y = Relu(x) }"), _FLOW)


def test_results_are_copies(tmp_path: Path) -> None:
    engine = MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW)
    first = engine.run({INPUT: _IMAGE})["scores"]
    kept = first.copy()
    engine.run({INPUT: _IMAGE * 2})
    assert np.array_equal(first, kept)


def test_a_truncated_artifact(tmp_path: Path) -> None:
    MNN().lower(tiny_model(tmp_path / "tiny.onnx"), _FLOW).save(tmp_path)
    artifact = tmp_path / "model.mnn"
    artifact.write_bytes(artifact.read_bytes()[:1000])
    with pytest.raises(InvalidModel, match="build it again"):
        MNN().load(tmp_path, _FLOW)


def test_a_converter_that_dies_is_an_error_with_its_last_words() -> None:
    """It does for a graph that reads what nothing makes; such graphs are refused before it sees them."""
    failure = conversion_failure(
        Converted("Start to Optimize the MNN Net...\nCheck it out ==> scores has empty input", -11)
    )
    assert type(failure) is Lowering
    assert str(failure) == "MNN's converter died of SIGSEGV: Check it out ==> scores has empty input"
    assert failure.node == "scores"


def test_an_output_whose_name_the_converter_drops_is_refused(write: Any) -> None:
    """It fuses the quantization at the end into the convolution before it."""
    model = write(
        """g (float[1,4,4,4] x) => (float[1,4,4,4] y)
        <float s = {0.25}, float t = {0.5}, int8 z = {3}, int8 n = {0}, int8[4,4,1,1] w = {1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1}> {
            q = QuantizeLinear(x, s, z)
            d = DequantizeLinear(q, s, z)
            v = DequantizeLinear(w, t, n)
            c = Conv(d, v)
            r = QuantizeLinear(c, t, z)
            y = DequantizeLinear(r, t, z) }""",
        opset=17,
    )
    with pytest.raises(Unsupported, match="MNN's converter dropped outputs of the model: y"):
        MNN().lower(model, MNN.flows[0])


def test_control_flow_in_a_session_is_not_supported_and_the_other_interface_is_named(write: Any) -> None:
    """The converter writes an If, and the session of 3.6.1 only says that it has no shape for it (error 3)."""
    path = write(
        """g (float[2] x, bool c) => (float[2] y) {
            y = If (c) <
                then_branch = a () => (float[2] p) { p = Relu(x) },
                else_branch = b () => (float[2] q) { q = Neg(x) }
            >
        }"""
    )
    engine = MNN().lower(path, _FLOW)
    with pytest.raises(Unsupported, match=r"computes no shape for If 'y'.*--option api=module"):
        engine.run({"x": np.ones(2, np.float32), "c": np.array(True)})
