"""Ranges of real numbers: computed from the start or added up, in any engine; exact where dyadic numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from small_graphs import budget, parsed

from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.tolerance.derive import derive_model
from assay.ports import Tensor

RANGE = "g (float a, float l, float d) => (float[z] y) { y = Range(a, l, d) }"
FORMS: dict[str, Any] = {
    "multiplied": lambda start, delta, count: start + np.arange(count, dtype=np.float32) * delta,
    "added": lambda start, delta, count: np.cumsum(np.array([start, *[delta] * (count - 1)], np.float32)),
}


def _bounds(start: float, limit: float, delta: float) -> dict[str, Tensor]:
    return {name: np.array(value, np.float32) for name, value in zip("ald", (start, limit, delta), strict=True)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "bounds", [(1.30045, 10.9811, 1.37985), (0.0, 99.95, 0.1), (-3.3, 3.0, 0.7), (5.1, -7.0, -0.3)]
)
def test_either_form_of_a_range_is_right(form: str, bounds: tuple[float, float, float]) -> None:
    feeds = _bounds(*bounds)
    profile = derive_model(parsed(RANGE), [feeds], "float32")
    count = profile.oracle[0]["y"].size
    right = FORMS[form](feeds["a"], feeds["d"], count)
    assert right.dtype == np.float32
    assert budget(profile, {"y": right}) < 1.0
    assert budget(profile, {"y": right * np.float32(1 + 1e-3)}) > 1.0


@pytest.mark.parametrize("form", FORMS)
def test_a_range_of_dyadic_numbers_is_exact(form: str) -> None:
    feeds = _bounds(0.5, 12.0, 0.75)
    profile = derive_model(parsed(RANGE), [feeds], "float32")
    right = FORMS[form](feeds["a"], feeds["d"], profile.oracle[0]["y"].size)
    assert budget(profile, {"y": right}) == 0.0
    assert budget(profile, {"y": np.nextafter(right, np.float32(99))}) > 1.0


def test_what_its_step_is_computed_from_rounds_too() -> None:
    model = parsed(
        """g (float x, float a, float l) => (float[z] y) {
            big = Constant<value_float = 4097.3>()
            sum = Add(x, big)
            d = Sub(sum, big)
            y = Range(a, l, d)
        }"""
    )
    feeds = {"x": np.array(0.71, np.float32), **_bounds(0.0, 9.0, 0.0)}
    del feeds["d"]
    profile = derive_model(model, [feeds], "float32")
    big = np.float32(4097.3)
    step = (feeds["x"] + big) - big
    assert budget(profile, {"y": FORMS["added"](np.float32(0), step, profile.oracle[0]["y"].size)}) < 1.0


def test_a_range_of_whole_numbers_is_exact() -> None:
    model = parsed("g (int64 a, int64 l, int64 d) => (int64[z] y) { y = Range(a, l, d) }")
    feeds = {name: np.array(value) for name, value in zip("ald", (1, 20, 3), strict=True)}
    profile = derive_model(model, [feeds], "float32")
    assert budget(profile, {"y": np.arange(1, 20, 3)}) == 0.0
    assert budget(profile, {"y": np.arange(2, 21, 3)}) > 1.0


@pytest.mark.parametrize("element", ["float", "double"])
def test_a_range_is_counted_by_its_bounds_as_the_model_holds_them(element: str) -> None:
    """Ten tenths are 1 in single precision, and a little more of single ones in double: then there is one number more."""
    kind = np.float32 if element == "float" else np.float64
    model = parsed(
        f"""g ({element} tenth, {element} ten) => ({element}[z] y, {element}[w] inner) {{
            zero = CastLike(nought, tenth)
            one = CastLike(unit, tenth)
            l = Mul(tenth, ten)
            y = Range(zero, l, one)
            inner = If(yes) <
                then_branch = a () => ({element}[p] q) {{ q = Range(zero, l, one) }},
                else_branch = b () => ({element}[r] s) {{ s = Range(one, l, one) }}
            >
        }}"""
    )
    for name, value in (("nought", np.array(0)), ("unit", np.array(1)), ("yes", np.array(True))):
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    feeds = {"tenth": np.array(np.float32(0.1), kind), "ten": np.array(10, kind)}
    expected = _by_onnxruntime(model, feeds)
    assert {array.shape for array in expected} == {(1,) if element == "float" else (2,)}
    wide = WideEvaluator(model).evaluate({name: value.astype(np.float64) for name, value in feeds.items()})
    assert [array.shape for array in wide] == [array.shape for array in expected]


def test_a_range_of_half_precision_is_computed_in_single() -> None:
    x = [np.array(number, np.float16) for number in (0.0, 4100.0, 3.0)]
    node = onnx.helper.make_node("Range", ["a", "l", "d"], ["y"])
    infos = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT16, []) for name in "ald"]
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT16, [None])
    graph = onnx.helper.make_graph([node], "g", infos, [output])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 27)])
    (answer,) = Evaluator(model).evaluate(dict(zip("ald", x, strict=True)))
    assert answer.tolist() == np.arange(0, 4100, 3).astype(np.float16).tolist()


def _by_onnxruntime(model: onnx.ModelProto, feeds: dict[str, Tensor]) -> list[Tensor]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    tensors: list[Tensor] = session.run(None, feeds)
    return tensors
