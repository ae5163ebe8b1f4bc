"""ncnn itself: storage, the batch axis, and the layers and types that it does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.backends.converter import Converted
from assay.backends.ncnn.backend import Ncnn
from assay.backends.ncnn.errors import conversion_failure
from assay.core.flow import Flow
from assay.errors import InvalidModel, Lowering, Unsupported
from assay.testing.backend_checks import check_backend
from assay.testing.tiny_models import INPUT, tiny_expected, tiny_model

_FLOWS = {flow.name: flow for flow in Ncnn.flows}
_FLOW = Ncnn.flows[0]
_IMAGE = np.random.default_rng(0).normal(size=(2, 3, 8, 8)).astype(np.float32)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return tiny_model(tmp_path / "tiny.onnx", integers=False)


def test_conforms() -> None:
    check_backend(Ncnn())


def test_float32_is_asked_for_and_half_is_told(tiny: Path) -> None:
    exact = tiny_expected(_IMAGE)["features"]
    for name, precision in (("ncnn-f32", "float32"), ("ncnn-fp16-storage", "float16")):
        engine = Ncnn().lower(tiny, _FLOWS[name])
        far = float(np.abs(engine.run({INPUT: _IMAGE})["features"] - exact).max())
        assert engine.facts().precision == precision
        assert (far < 1e-5) == (precision == "float32")


def test_half_weights_are_told_whatever_the_flow_says(tiny: Path, tmp_path: Path) -> None:
    Ncnn().lower(tiny, _FLOWS["ncnn-fp16-storage"]).save(tmp_path)
    assert Ncnn().load(tmp_path, _FLOW).facts().precision == "float16"


def test_layers_that_it_does_not_have_are_named(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="ArgMax") as caught:
        Ncnn().lower(tiny_model(tmp_path / "whole.onnx"), _FLOW)
    assert caught.value.node.startswith("ArgMax")


def test_a_cast_of_small_integers_happens_outside(write: Any) -> None:
    text = "g (uint8[n, 1, 4, 4] x) => (float[n, 1, 2, 2] y) { f = Cast<to=1>(x)\n y = MaxPool<kernel_shape=[2, 2], strides=[2, 2]>(f) }"
    engine = Ncnn().lower(write(text), _FLOW)
    x = np.arange(32, dtype=np.uint8).reshape(2, 1, 4, 4) * 8
    largest = x.reshape(2, 1, 2, 2, 2, 2).max(axis=(3, 5))
    assert np.array_equal(engine.run({"x": x})["y"], largest.astype(np.float32))
    assert engine.facts().options["cast.x"] == "uint8 -> float32 on the way in"
    with pytest.raises(ValueError, match="takes uint8"):
        engine.run({"x": x.astype(np.float32)})


def test_a_scalar_has_no_axis(write: Any) -> None:
    engine = Ncnn().lower(write("g (float[3, 4] x) => (float y) { y = ReduceSum<keepdims=0>(x) }"), _FLOW)
    answer = engine.run({"x": np.ones((3, 4), np.float32)})["y"]
    assert (answer.shape, float(answer)) == ((), 12)


def test_one_number_for_each_row_has_the_axis_of_the_batch_alone(write: Any) -> None:
    stored = "<float[1, 2, 1, 1] w = {1, 2}, int64[3] axes = {1, 2, 3}>"
    text = f"""g (float[N, 2, 4, 4] x) => (float[N] y) {stored} {{
        joined = Conv (x, w) mean = GlobalAveragePool (joined) y = Squeeze (mean, axes)
    }}"""
    engine = Ncnn().lower(write(text), _FLOW)
    x = np.arange(96, dtype=np.float32).reshape(3, 2, 4, 4)
    assert engine.run({"x": x})["y"].tolist() == (x[:, 0] + 2 * x[:, 1]).mean(axis=(1, 2)).tolist()


def test_another_use_of_the_integers_is_refused(write: Any) -> None:
    with pytest.raises(Unsupported, match="uint8"):
        Ncnn().lower(write("g (uint8[n, 4] x) => (uint8[n, 4] y) { y = Add(x, x) }"), _FLOW)


def test_a_symbol_that_is_not_the_batch_needs_a_size(write: Any) -> None:
    model = write("g (float[n, 3, h, 8] x) => (float[n, 3, h, 8] y) { y = Relu(x) }")
    with pytest.raises(Unsupported, match='the dimension "h" of any size'):
        Ncnn().lower(model, _FLOW)
    sized = Flow(name="sized", backend="ncnn", dims={"h": (4, 8, 16)})
    engine = Ncnn().lower(model, sized)
    assert np.array_equal(engine.run({"x": _IMAGE[:1]})["y"], np.maximum(_IMAGE[:1], 0))
    with pytest.raises(Unsupported, match=r"is \[1, 3, 4, 8\]; the network was converted for \[1, 3, 8, 8\]"):
        engine.run({"x": _IMAGE[:1, :, :4]})


def test_inputs_of_several_batches_are_unsupported(write: Any) -> None:
    pool = "MaxPool<kernel_shape=[2, 2], strides=[2, 2]>"
    text = f"g (float[n, 3, 8, 8] x, float[m, 3, 8, 8] h) => (float[n, 3, 4, 4] y, float[m, 3, 4, 4] z) {{ y = {pool}(x)\n z = {pool}(h) }}"
    engine = Ncnn().lower(write(text), _FLOW)
    assert engine.run({"x": _IMAGE, "h": _IMAGE})["z"].shape == (2, 3, 4, 4)
    with pytest.raises(Unsupported, match="for one batch, and these have 1, 2 rows"):
        engine.run({"x": _IMAGE, "h": _IMAGE[:1]})
    with pytest.raises(ValueError, match="at least 1, not of 0"):
        engine.run({"x": _IMAGE[:0], "h": _IMAGE[:0]})


def test_the_sizes_of_the_samples_are_built_for(write: Any) -> None:
    model = write("g (float[n, 3, h, 8] x) => (float[n, 3, h, 8] y) { y = Relu(x) }")
    flow = Flow(name="fed", backend="ncnn", sample_sizes={"x[0]": (1, 1, 1), "x[2]": (4, 8, 16)})
    engine = Ncnn().lower(model, flow)
    assert np.array_equal(engine.run({"x": _IMAGE[:1]})["y"], np.maximum(_IMAGE[:1], 0))
    assert engine.facts().options["size.h"] == "8"


def test_names_order_and_unread_inputs(write: Any) -> None:
    text = """g (float[m] unread, float[n, 4] x, float[n, 4] z) => (float[n, 4] d, float[n, 4] c) {
        c = Sub(x, z)
        d = Relu(x)
    }"""
    x, z = np.array([[-1, 2, 3, -4]], np.float32), np.ones((1, 4), np.float32)
    outputs = Ncnn().lower(write(text), _FLOW).run({"unread": np.ones(3, np.float32), "x": x, "z": z})
    assert {name: array.tolist() for name, array in outputs.items()} == {"d": [[0, 2, 3, 0]], "c": [[-2, 1, 2, -5]]}
    assert list(outputs) == ["d", "c"]


@pytest.mark.parametrize("wrong", [_IMAGE[:, :2], _IMAGE.astype(np.float64), _IMAGE[0], _IMAGE[:0]])
def test_inputs_it_would_misread_are_refused(tiny: Path, wrong: np.ndarray[Any, Any]) -> None:
    engine = Ncnn().lower(tiny, _FLOW)
    with pytest.raises(ValueError):
        engine.run({INPUT: wrong})


def test_a_broken_artifact(tiny: Path, tmp_path: Path) -> None:
    Ncnn().lower(tiny, _FLOW).save(tmp_path)
    weights = tmp_path / "model.ncnn.bin"
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(InvalidModel, match=r"model\.ncnn\.bin"):
        Ncnn().load(tmp_path, _FLOW)


def test_a_converter_that_dies_is_an_error_with_its_last_words() -> None:
    failure = conversion_failure(Converted("fp16 = 0\n\x1b[0;93mpass_level2\x1b[m\n", -11))
    assert type(failure) is Lowering
    assert str(failure) == "pnnx's converter died of SIGSEGV: pass_level2"
