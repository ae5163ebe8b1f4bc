"""Ties of exact numbers: decided half to even, unless the flow declares another rule."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper
from small_graphs import budget, float32, parsed

from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.rules.dyadic import are_powers_of_two, holds, step_of
from assay.ports import Tensor

TIES = np.arange(-9, 9, dtype=np.float32).reshape(1, 18) / 4
"""In steps of a half: every second one lies on a tie."""


def _net(scale: float, zero: int, body: str = "m = Identity(d)") -> ModelProto:
    model = parsed(
        f"""g (float[1, 18] x) => (float[1, 18] y) {{
            q = QuantizeLinear(x, quarter, none)
            d = DequantizeLinear(q, quarter, none)
            {body}
            w = QuantizeLinear(m, scale, zero)
            y = DequantizeLinear(w, scale, zero)
        }}"""
    )
    stored = {"quarter": np.float32(scale / 2), "none": np.int8(0), "scale": np.float32(scale), "zero": np.int8(zero)}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items())
    return model


def _rounded(whole: Tensor, scale: float) -> dict[str, Tensor]:
    return {"y": (whole * scale).astype(np.float32)}


def _derived(model: ModelProto, x: Tensor, *allowances: str) -> DerivedTolerance:
    return derive_model(model, [{"x": x}], "float32", allowances=allowances)


EVEN = np.rint(TIES * 2)
AWAY = np.copysign(np.floor(np.abs(TIES * 2) + 0.5), TIES)
AFTER = np.rint(TIES * 2 + 3) - 3


def test_a_tie_of_exact_numbers_is_decided() -> None:
    profile = _derived(_net(0.5, 3), TIES)
    assert budget(profile, _rounded(EVEN, 0.5)) == 0.0
    for wrong in (AWAY, AFTER):
        assert budget(profile, _rounded(wrong, 0.5)) > 1.0


@pytest.mark.parametrize(("allowance", "answer"), [("ties-after-zero-point", AFTER), ("ties-away-from-zero", AWAY)])
def test_a_flow_may_declare_another_rule(allowance: str, answer: Tensor) -> None:
    profile = _derived(_net(0.5, 3), TIES, allowance)
    for right in (EVEN, answer):
        assert budget(profile, _rounded(right, 0.5)) <= 1.0
    farther = answer.copy()
    farther[0, 1] += 1  # no tie
    assert budget(profile, _rounded(farther, 0.5)) > 1.0


def test_after_an_even_zero_point_nothing_is_left_open() -> None:
    profile = _derived(_net(0.5, 4), TIES, "ties-after-zero-point")
    assert budget(profile, _rounded(AFTER, 0.5)) > 1.0


def test_the_rule_of_fused_pools_is_not_that_of_products_and_moves() -> None:
    declared = "elementwise-ties-after-zero-point"
    assert budget(_derived(_net(0.5, 3), TIES, declared), _rounded(AFTER, 0.5)) > 1.0
    pool = "a = Unsqueeze(d, one)\nb = AveragePool<kernel_shape=[1]>(a)\nm = Squeeze(b, one)"
    model = _net(0.5, 3, pool)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    assert budget(_derived(model, TIES, declared), _rounded(AFTER, 0.5)) <= 1.0
    assert budget(_derived(model, TIES), _rounded(AFTER, 0.5)) > 1.0


@pytest.mark.parametrize("behind", ["", "c = Relu(b)"])
def test_a_mean_of_two_at_a_padded_edge_is_exact_and_one_of_three_is_not(behind: str) -> None:
    """A window of three over equal numbers has their mean only where an engine divides; by times a third it may miss the tie."""
    pool = f"a = Unsqueeze(d, one)\nb = AveragePool<kernel_shape=[3], pads=[1, 1]>(a)\n{behind}"
    model = _net(0.5, 3, f"{pool}\nm = Squeeze({'c' if behind else 'b'}, one)")
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    profile = _derived(model, np.full((1, 18), 1.25, np.float32))
    even = np.full((1, 18), 2.0)
    assert budget(profile, _rounded(even, 0.5)) <= 1.0
    for place, decided in ((0, True), (17, True), (5, False)):
        other = even.copy()
        other[0, place] = 3.0
        assert (budget(profile, _rounded(other, 0.5)) > 1.0) == decided


def test_a_scale_that_is_no_power_of_two_leaves_ties_open() -> None:
    profile = _derived(_net(0.1, 3), (TIES * np.float32(0.2)).astype(np.float32))
    for right in (EVEN, AFTER):
        assert budget(profile, _rounded(right, float(np.float32(0.1)))) <= 1.0


def test_what_rounds_before_leaves_ties_open() -> None:
    """A third, tripled again, is whole only in double."""
    model = _net(0.5, 3, "t = Mul(d, third)\nm = Mul(t, three)")
    stored = {"third": np.float32(1 / 3), "three": np.float32(3)}
    model.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in stored.items())
    profile = _derived(model, TIES)
    assert budget(profile, float32(model, {"x": TIES})) <= 1.0
    assert any(sample["y"].any() for sample in profile.deviation) or profile.header.outputs[0].kind != "exact"


def test_sums_of_dyadic_numbers_are_exact_as_long_as_the_significand_holds_them() -> None:
    for size, kind in ((1.0, "exact"), (2.0**18, "real")):
        model = parsed("g (float[1, 4] x) => (float[1, 2] y) { y = Gemm(x, w, c) }")
        w = np.array([[0.25, size], [-0.5, 3], [1.75, 2], [2.0**-8, 1]], np.float32)
        c = np.array([2.0**-9, 1.5], np.float32)
        for name, array in (("w", w), ("c", c)):
            model.graph.node.insert(0, _constant(name, array))
        profile = _derived(model, np.array([[1.5, 2.0**-6, -3, 0.25]], np.float32))
        assert profile.header.outputs[0].kind == kind


def _constant(name: str, value: Tensor) -> object:
    from onnx import helper

    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value))


def test_the_step_of_numbers() -> None:
    assert step_of(np.array([0.75, -2.5])) == 0.25
    assert step_of(np.array([[0.5, 3.0], [8.0, 0.0]]), 1).tolist() == [[0.5, 1.0]]
    assert np.isinf(step_of(np.zeros(3))).all()
    assert not step_of(np.array([0.5, 1 / 3])).any()
    assert not step_of(np.array([0.5, np.inf])).any()
    assert are_powers_of_two(np.array([0.5, 8]))
    assert not are_powers_of_two(np.array([0.5, 3]))
    assert holds(2.0**24, 1.0, 2.0**-24)
    assert not holds(2.0**24 + 2, 1.0, 2.0**-24)
