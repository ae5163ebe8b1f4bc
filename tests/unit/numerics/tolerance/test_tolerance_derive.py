"""Derived tolerances of small graphs: float32 arithmetic passes, what is no float32 arithmetic does not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_graphs import budget, float32, network, noise, parsed

from assay.core.note import NoteCode
from assay.judge.words.finding_text import finding_text
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs, suspects


def test_float32_arithmetic_is_within_and_its_defects_are_not() -> None:
    model, feeds = network()
    profile = derive_model(model, [feeds], "float32")
    assert profile.header.without_rule == ()
    assert all(attempt.killed for attempt in profile.header.selftest)
    assert len(profile.header.selftest) == 3
    assert budget(profile, float32(model, feeds)) < 1
    coarse = {"x": feeds["x"].astype(ml_dtypes.bfloat16).astype(np.float32)}
    assert budget(profile, float32(model, coarse)) > 10
    for dropped in ("bias", "shift"):
        other = onnx.ModelProto()
        other.CopyFrom(model)
        for tensor in other.graph.initializer:
            if tensor.name == dropped:
                tensor.CopyFrom(numpy_helper.from_array(np.zeros(64, np.float32), dropped))
        assert budget(profile, float32(other, feeds)) > 10, dropped
    other = onnx.ModelProto()
    other.CopyFrom(model)
    other.graph.node[3].attribute.append(onnx.helper.make_attribute("approximate", "tanh"))
    assert budget(profile, float32(other, feeds)) > 1, "tanh for erf"


def test_the_same_seed_gives_the_same_tolerance_and_another_gives_another() -> None:
    model, feeds = network()
    first, again = (derive_model(model, [feeds], "float32", seed=5) for _ in range(2))
    other = derive_model(model, [feeds], "float32", seed=6)
    assert np.array_equal(first.deviation[0]["y"], again.deviation[0]["y"])
    assert not np.array_equal(first.deviation[0]["y"], other.deviation[0]["y"])
    assert np.linalg.norm(first.deviation[0]["y"]) == pytest.approx(np.linalg.norm(other.deviation[0]["y"]), rel=0.5)


def test_a_bfloat16_contract_allows_bfloat16_and_tells_of_float32() -> None:
    model, feeds = network()
    narrow = derive_model(model, [feeds], "bfloat16")
    coarse = {"x": feeds["x"].astype(ml_dtypes.bfloat16).astype(np.float32)}
    (rounded,) = judge_outputs([float32(model, coarse)], None, narrow).values()
    assert rounded.metrics["budget_used"] < 1
    (exact,) = judge_outputs([float32(model, feeds)], None, narrow).values()
    assert any(note.code == NoteCode.CLOSER_THAN_TYPE for note in exact.notes)


@pytest.mark.parametrize("nearer", [1.0, 1e-4])
def test_elements_that_are_exact_do_not_make_a_noise_rule_too_wide(nearer: float) -> None:
    """Half of a LeakyRelu is moved, and a slope of 0.001 leaves little of the other half: all of it together uses a thousandth of what is
    allowed, and where it rounds as much as it should. An answer nearer to double than that is told of."""
    model = parsed("g (float[256] x) => (float[256] y) { y = LeakyRelu<alpha = 0.001>(x) }")
    feeds = {"x": noise(256)}
    profile = derive_model(model, [feeds], "float32")
    oracle = profile.oracle[0]["y"]
    error = np.where(feeds["x"] < 0, nearer * 2.0**-25 * oracle, 0.0)
    (judged,) = judge_outputs([{"y": oracle + error}], None, profile).values()
    assert [note.code for note in judged.notes] == ([NoteCode.LITTLE_NOISE] if nearer < 1 else [])


def test_movement_must_give_every_bit() -> None:
    model = parsed("g (float[3, 4] x) => (float[4, 3] y) { r = Relu(x)\n y = Transpose(r) }")
    feeds = {"x": noise(3, 4)}
    profile = derive_model(model, [feeds], "float32")
    right = float32(model, feeds)
    assert budget(profile, right) == 0
    wrong = right["y"].copy()
    wrong[np.nonzero(wrong)[0][0], np.nonzero(wrong)[1][0]] *= np.float32(1 + 2**-23)
    assert budget(profile, {"y": wrong}) == np.inf


def test_an_index_may_differ_at_a_tie_only() -> None:
    model = parsed("g (float[2, 4] x) => (int64[2, 1] y) { s = Exp(x)\n y = ArgMax<axis=1>(s) }")
    x = np.array([[1, 1 + 2**-23, 0, -1], [1, 2, 0, -1]], np.float32)
    profile = derive_model(model, [{"x": x}], "float32")
    (tie,) = judge_outputs([{"y": np.array([[0], [1]])}], None, profile).values()
    assert tie.metrics == {"budget_used": 0.0, "ties": 1.0}
    assert tie.notes[0].facts["count"] == 1
    assert budget(profile, {"y": np.array([[1], [0]])}) == np.inf
    assert budget(profile, {"y": np.array([[2], [1]])}) == np.inf


def test_a_rounding_may_differ_next_to_a_step_only() -> None:
    model = parsed("g (float[3] x) => (int32[3] y) { s = Mul(x, x)\n y = Cast<to=6>(s) }")
    x = np.array([np.sqrt(2.0), 1.5, 3.0], np.float32)
    profile = derive_model(model, [{"x": x}], "float32")
    near = int(np.float32(x[0]) * np.float64(x[0]))
    assert budget(profile, {"y": np.array([3 - near, 2, 9], np.int32)}) == 0
    assert budget(profile, {"y": np.array([near, 3, 9], np.int32)}) == np.inf


def test_whole_numbers_have_no_room_for_error() -> None:
    model = parsed("g (float[8, 16] a, float[16, 8] b) => (float[8, 8] y) { y = MatMul(a, b) }")
    random = np.random.default_rng(0)
    feeds = {name: random.integers(-3, 4, shape).astype(np.float32) for name, shape in (("a", (8, 16)), ("b", (16, 8)))}
    profile = derive_model(model, [feeds], "float32")
    right = float32(model, feeds)
    assert profile.header.outputs[0].kind == "exact"
    assert budget(profile, right) == 0
    assert budget(profile, {"y": right["y"] + np.float32(2**-12)}) == np.inf


def test_a_result_of_cancellation_proves_nothing_and_says_so() -> None:
    model = parsed(
        "g (float[64] x, float a, float b) => (float[64] y) { p = Mul(x, a)\n q = Mul(x, b)\n y = Sub(p, q) }"
    )
    feeds = {"x": noise(64), "a": np.array(1.1, np.float32), "b": np.array(1.1000001, np.float32)}
    (judged,) = judge_outputs([float32(model, feeds)], None, derive_model(model, [feeds], "float32")).values()
    assert judged.metrics["budget_used"] < 1
    assert "too ill-conditioned" in finding_text(judged.degenerate)


def test_a_golden_that_is_wrong_itself_is_named() -> None:
    model, feeds = network()
    profile = derive_model(model, [feeds], "float32")
    golden = float32(model, feeds)
    assert suspects([golden], profile) == {}
    golden["y"] = golden["y"] * np.float32(1.001)
    assert suspects([golden], profile)["y"] > 1.0


_UNARY = [
    "Exp",
    "Log",
    "Tanh",
    "Sigmoid",
    "Erf",
    "Sqrt",
    "Sin",
    "Cos",
    "Softplus",
    "Elu",
    "Mish",
    "HardSwish",
    "Reciprocal",
]


@pytest.mark.parametrize("operator", _UNARY)
def test_a_function_in_float32_is_within_and_in_half_precision_is_not(operator: str) -> None:
    model = parsed(f"g (float[1000] x) => (float[1000] y) {{ y = {operator}(x) }}", 22)
    feeds = {"x": np.abs(noise(1000)) + np.float32(0.01)}
    profile = derive_model(model, [feeds], "float32")
    right = float32(model, feeds)
    assert budget(profile, right) < 1
    assert budget(profile, {"y": right["y"].astype(np.float16).astype(np.float32)}) > 1


def test_subgraphs_are_noisy_too() -> None:
    text = """g (float[64] x, bool b) => (float[64] y) {
        y = If(b) <then_branch = g1 () => (float[64] t) { t = Tanh(x) },
                   else_branch = g2 () => (float[64] e) { e = Exp(x) }>
    }"""
    model = parsed(text)
    feeds: dict[str, Any] = {"x": noise(64), "b": np.array(True)}
    profile = derive_model(model, [feeds], "float32")
    assert profile.deviation[0]["y"].any()
    assert budget(profile, float32(model, feeds)) < 1
    assert budget(profile, {"y": np.tanh(feeds["x"]) * np.float32(1 + 2**-18)}) > 1


def test_the_noise_of_a_product_is_that_of_its_formula() -> None:
    model = parsed("g (float[64, 256] a, float[256, 64] b) => (float[64, 64] y) { y = MatMul(a, b) }")
    feeds = {"a": noise(64, 256), "b": noise(256, 64)}
    profile = derive_model(model, [feeds], "float32")
    a, b = feeds["a"].astype(np.float64), feeds["b"].astype(np.float64)
    value, squares, u = a @ b, (a * a) @ (b * b), 2.0**-24
    formula = u**2 / 3 * (256 * value**2 / 3 + 256 * squares / 2 + value**2)
    derived = np.mean(np.square(profile.deviation[0]["y"].astype(np.float64)))
    assert derived == pytest.approx(np.mean(formula), rel=0.1)


def test_the_noise_of_a_chain_is_that_of_its_steps_and_not_of_the_evaluation_itself() -> None:
    steps = 20
    lines = "\n".join(f"v{n + 1} = Mul(v{n}, c)" for n in range(steps))
    model = parsed(f"g (float[2000] v0) => (float[2000] v{steps}) {{ {lines} }}")
    model.graph.initializer.append(numpy_helper.from_array(np.array(1.0371, np.float32), "c"))
    profile = derive_model(model, [{"v0": noise(2000)}], "float32")
    relative = profile.deviation[0][f"v{steps}"].astype(np.float64) / np.abs(profile.oracle[0][f"v{steps}"])
    assert np.sqrt(np.mean(relative**2)) == pytest.approx(2.0**-24 * np.sqrt(steps / 3), rel=0.1)


def test_an_inverse_transform_is_divided_by_its_length_and_so_is_its_noise() -> None:
    shares = []
    for inverse in (0, 1):
        model = parsed(f"g (float[1, 256, 2] x) => (float[1, 256, 2] y) {{ y = DFT<inverse={inverse}>(x,,axis) }}")
        model.graph.initializer.append(numpy_helper.from_array(np.array(1, np.int64), "axis"))
        profile = derive_model(model, [{"x": noise(1, 256, 2)}], "float32")
        assert all(attempt.killed for attempt in profile.header.selftest)
        shares.append(np.linalg.norm(profile.deviation[0]["y"]) / np.linalg.norm(profile.oracle[0]["y"]))
    assert shares[1] == pytest.approx(shares[0], rel=0.3)


@pytest.mark.parametrize(
    "tail",
    [
        "t = Transpose<perm=[1, 0]>(r)\n y = Cast<to=2>(t)",
        "t = Clip(r, zero, top)\n y = Cast<to=2>(t)",
        "t = Concat<axis=0>(r, r)\n y = Cast<to=2>(t)",
    ],
)
def test_a_picture_rounded_to_bytes_may_not_be_truncated(tail: str) -> None:
    head = "g (float[40, 30] x) => (uint8[N, M] y) <float zero = {0.0}, float top = {255.0}, float most = {255.0}>"
    model, floored = (
        parsed(f"{head} {{ s = Sigmoid(x)\n m = Mul(s, most)\n r = {how}(m)\n {tail} }}") for how in ("Round", "Floor")
    )
    feeds = {"x": noise(40, 30)}
    profile = derive_model(model, [feeds], "float32")
    assert budget(profile, float32(model, feeds)) == 0
    assert budget(profile, float32(floored, feeds)) == np.inf


def test_a_picture_rounded_to_bytes_may_tip_at_a_tie_either_way() -> None:
    model = parsed("g (float[4] x) => (uint8[4] y) { r = Round(x)\n t = Relu(r)\n y = Cast<to=2>(t) }")
    model.graph.node.insert(0, onnx.helper.make_node("Mul", ["a", "a"], ["x"]))
    model.graph.input[0].name = "a"
    a = np.sqrt(np.array([30.5000001, 31.4999999, 7.2, 9.8])).astype(np.float32)
    profile = derive_model(model, [{"a": a}], "float32")
    assert budget(profile, {"y": np.array([30, 31, 7, 10], np.uint8)}) == 0
    assert budget(profile, {"y": np.array([31, 32, 7, 10], np.uint8)}) == 0
    assert budget(profile, {"y": np.array([31, 31, 8, 10], np.uint8)}) == np.inf


def test_a_window_of_cosines_is_held_to_its_own_noise() -> None:
    model = parsed(
        "agraph (float[400] x) => (float[400] y) { n = Constant <value_int = 400> () w = HannWindow (n) y = Mul (x, w) }"
    )
    feeds = {"x": noise(400)}
    profile = derive_model(model, [feeds], "float32")
    assert profile.header.without_rule == ()
    (y,) = float32(model, feeds).values()
    assert budget(profile, {"y": y}) < 1
    other = feeds["x"] * np.sin(np.pi * np.arange(400) / 399).astype(np.float32) ** 2
    assert budget(profile, {"y": other}) > 10, "symmetric"


def test_a_double_window_may_be_computed_in_float32() -> None:
    """The body of the function in the standard does, and casts the sum."""
    model = parsed(
        "agraph (double[14] x) => (double[14] y) "
        "{ n = Constant <value_int = 14> () w = BlackmanWindow <output_datatype = 11> (n) y = Mul (x, w) }"
    )
    feeds = {"x": np.ones(14)}
    profile = derive_model(model, [feeds], "float32")
    angle = np.float32(2 * np.pi / 14) * np.arange(14, dtype=np.float32)
    window = np.float32(0.42) - np.float32(0.5) * np.cos(angle) + np.float32(0.08) * np.cos(2 * angle)
    assert budget(profile, {"y": window.astype(np.float64)}) < 1
    assert budget(profile, {"y": window.astype(np.float64) * 1.00001}) > 1
