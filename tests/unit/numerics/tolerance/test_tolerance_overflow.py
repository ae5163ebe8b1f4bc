"""NaN and infinities that the model itself gives within the types that it declares, and those that it does not."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from small_graphs import float32, parsed

from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.simulate.overflow import excused

SATURATED = np.array([[0.0, -5.0, -200.0, -150.0]], np.float32)


def wide(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    from assay.numerics.tolerance.derive import derive_model

    oracle: np.ndarray = derive_model(model, [{"x": x}], "float32").oracle[0]["y"]
    return oracle


def left(model: onnx.ModelProto, x: np.ndarray, actual: np.ndarray, precision: str = "float32") -> list[int]:
    """The flat positions of NaN and infinities that nothing excuses."""
    expected = [{"y": wide(model, x)}]
    answers, counts = excused(model, [{"x": x}], [{"y": actual}], expected, arithmetic_of(precision))
    answer = answers[0]["y"]
    assert counts.get("y", 0) == int(((answer != actual) & ~(np.isnan(answer) & np.isnan(actual))).sum())
    return [int(place) for place in np.flatnonzero(~np.isfinite(answer))]


def test_the_logarithm_of_a_probability_that_float32_has_not() -> None:
    model = parsed("g (float[1, 4] x) => (float[1, 4] y) { p = Softmax<axis=-1>(x)\n y = Log(p) }")
    with np.errstate(divide="ignore"):
        faithful = float32(model, {"x": SATURATED})["y"]
    assert np.isinf(faithful).sum() == 2
    assert left(model, SATURATED, faithful) == []
    wrong = faithful.copy()
    wrong[0, 1] = -np.inf  # of a probability that float32 has
    assert left(model, SATURATED, wrong) == [1]
    assert left(model, SATURATED, np.full_like(faithful, np.nan)) == [0, 1, 2, 3]


def test_an_exponential_beyond_the_type_leaves_nan_and_zeros() -> None:
    model = parsed(
        """g (float[1, 4] x) => (float[1, 4] y)
        { e = Exp(x)\n axis = Constant<value_ints=[1]>()\n s = ReduceSum(e, axis)\n y = Div(e, s) }"""
    )
    x = np.array([[100.0, 99.0, 90.0, 60.0]], np.float32)
    with np.errstate(all="ignore"):
        faithful = float32(model, {"x": x})["y"]
    assert np.isnan(faithful[0, :3]).sum() >= 2
    assert faithful[0, 3] == 0
    assert left(model, x, faithful) == []
    wrong = faithful.copy()
    wrong[0, 3] = np.nan
    assert left(model, x, wrong) == [3]


def test_a_function_that_is_zero_within_its_own_accuracy_has_no_logarithm() -> None:
    model = parsed("g (float[1, 3] x) => (float[1, 3] y) { s = Sigmoid(x)\n y = Log(s) }")
    x = np.array([[0.5, -32.0, -5.0]], np.float32)
    right = wide(model, x).astype(np.float32)
    flushed = right.copy()
    flushed[0, 1] = -np.inf
    assert left(model, x, flushed) == []
    flushed[0, 2] = -np.inf  # 6.7e-3, which every engine has
    assert left(model, x, flushed) == [2]


@pytest.mark.parametrize(("declared", "unexplained"), [("float", [0]), ("float16", [])])
def test_a_type_that_is_the_flows_own_excuses_nothing(declared: str, unexplained: list[int]) -> None:
    model = parsed(f"g ({declared}[1, 2] x) => ({declared}[1, 2] y) {{ s = Mul(x, x)\n y = Sqrt(s) }}")
    x = np.array([[300.0, 2.0]], np.float16 if declared == "float16" else np.float32)
    overflown = np.array([[np.inf, 2.0]], np.float16)
    assert left(model, x, overflown, "float16") == unexplained
