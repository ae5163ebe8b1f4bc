"""Derived tolerances of small graphs: float32 arithmetic passes, what is no float32 arithmetic does not."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.errors import Lowering, UsageError
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance import rules
from assay.numerics.tolerance.contract import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge import judge, suspects
from assay.numerics.tolerance.profile import Profile
from assay.ports import Tensor


def _model(text: str, opset: int = 21) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n{text}')
    return model


def _noise(*shape: int, seed: int = 0) -> Tensor:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def _float32(model: onnx.ModelProto, feeds: dict[str, Tensor]) -> dict[str, Tensor]:
    names = [one.name for one in model.graph.output]
    return dict(zip(names, Evaluator(model).evaluate(feeds), strict=True))


def _budget(profile: Profile, outputs: dict[str, Tensor]) -> float:
    return max(one.metrics["budget_used"] for one in judge([outputs], None, profile).values())


def _network(seed: int = 3) -> tuple[onnx.ModelProto, dict[str, Tensor]]:
    model = _model(
        """g (float[4, 32] x) => (float[4, 8] y) {
            h = MatMul(x, w1)
            b = Add(h, bias)
            n = LayerNormalization<axis=-1>(b, scale, shift)
            a = Gelu(n)
            z = MatMul(a, w2)
            y = Softmax<axis=-1>(z)
        }"""
    )
    weights = {"w1": (32, 64), "bias": (64,), "scale": (64,), "shift": (64,), "w2": (64, 8)}
    for name, shape in weights.items():
        model.graph.initializer.append(numpy_helper.from_array(_noise(*shape, seed=seed) * np.float32(0.3), name))
    return model, {"x": _noise(4, 32, seed=seed)}


def test_float32_arithmetic_is_within_and_its_defects_are_not() -> None:
    model, feeds = _network()
    profile = derive_model(model, [feeds], "float32")
    assert profile.header.without_rule == ()
    assert all(one.killed for one in profile.header.selftest)
    assert len(profile.header.selftest) == 3
    assert _budget(profile, _float32(model, feeds)) < 1
    coarse = {"x": feeds["x"].astype(ml_dtypes.bfloat16).astype(np.float32)}
    assert _budget(profile, _float32(model, coarse)) > 10
    for dropped in ("bias", "shift"):
        other = onnx.ModelProto()
        other.CopyFrom(model)
        for one in other.graph.initializer:
            if one.name == dropped:
                one.CopyFrom(numpy_helper.from_array(np.zeros(64, np.float32), dropped))
        assert _budget(profile, _float32(other, feeds)) > 10, dropped
    other = onnx.ModelProto()
    other.CopyFrom(model)
    other.graph.node[3].attribute.append(onnx.helper.make_attribute("approximate", "tanh"))
    assert _budget(profile, _float32(other, feeds)) > 1, "tanh for erf"


def test_the_same_seed_gives_the_same_tolerance_and_another_gives_another() -> None:
    model, feeds = _network()
    first, again = (derive_model(model, [feeds], "float32", seed=5) for _ in range(2))
    other = derive_model(model, [feeds], "float32", seed=6)
    assert np.array_equal(first.deviation[0]["y"], again.deviation[0]["y"])
    assert not np.array_equal(first.deviation[0]["y"], other.deviation[0]["y"])
    assert np.linalg.norm(first.deviation[0]["y"]) == pytest.approx(np.linalg.norm(other.deviation[0]["y"]), rel=0.5)


def test_a_bfloat16_contract_allows_bfloat16_and_tells_of_float32() -> None:
    model, feeds = _network()
    narrow = derive_model(model, [feeds], "bfloat16")
    coarse = {"x": feeds["x"].astype(ml_dtypes.bfloat16).astype(np.float32)}
    (rounded,) = judge([_float32(model, coarse)], None, narrow).values()
    assert rounded.metrics["budget_used"] < 1
    (exact,) = judge([_float32(model, feeds)], None, narrow).values()
    assert any("seems to have computed in float32" in note for note in exact.notes)


def test_movement_must_give_every_bit() -> None:
    model = _model("g (float[3, 4] x) => (float[4, 3] y) { r = Relu(x)\n y = Transpose(r) }")
    feeds = {"x": _noise(3, 4)}
    profile = derive_model(model, [feeds], "float32")
    right = _float32(model, feeds)
    assert _budget(profile, right) == 0
    wrong = right["y"].copy()
    wrong[np.nonzero(wrong)[0][0], np.nonzero(wrong)[1][0]] *= np.float32(1 + 2**-23)
    assert _budget(profile, {"y": wrong}) == np.inf


def test_an_index_may_differ_at_a_tie_only() -> None:
    model = _model("g (float[2, 4] x) => (int64[2, 1] y) { s = Exp(x)\n y = ArgMax<axis=1>(s) }")
    x = np.array([[1, 1 + 2**-23, 0, -1], [1, 2, 0, -1]], np.float32)
    profile = derive_model(model, [{"x": x}], "float32")
    (tie,) = judge([{"y": np.array([[0], [1]])}], None, profile).values()
    assert tie.metrics == {"budget_used": 0.0, "ties": 1.0}
    assert "1 ties" in tie.notes[0]
    assert _budget(profile, {"y": np.array([[1], [0]])}) == np.inf
    assert _budget(profile, {"y": np.array([[2], [1]])}) == np.inf


def test_a_rounding_may_differ_next_to_a_step_only() -> None:
    model = _model("g (float[3] x) => (int32[3] y) { s = Mul(x, x)\n y = Cast<to=6>(s) }")
    x = np.array([np.sqrt(2.0), 1.5, 3.0], np.float32)
    profile = derive_model(model, [{"x": x}], "float32")
    near = int(np.float32(x[0]) * np.float64(x[0]))
    assert _budget(profile, {"y": np.array([3 - near, 2, 9], np.int32)}) == 0
    assert _budget(profile, {"y": np.array([near, 3, 9], np.int32)}) == np.inf


def test_whole_numbers_have_no_room_for_error() -> None:
    model = _model("g (float[8, 16] a, float[16, 8] b) => (float[8, 8] y) { y = MatMul(a, b) }")
    random = np.random.default_rng(0)
    feeds = {name: random.integers(-3, 4, shape).astype(np.float32) for name, shape in (("a", (8, 16)), ("b", (16, 8)))}
    profile = derive_model(model, [feeds], "float32")
    right = _float32(model, feeds)
    assert profile.header.outputs[0].kind == "exact"
    assert _budget(profile, right) == 0
    assert _budget(profile, {"y": right["y"] + np.float32(2**-12)}) == np.inf


def test_a_result_of_cancellation_proves_nothing_and_says_so() -> None:
    model = _model(
        "g (float[64] x, float a, float b) => (float[64] y) { p = Mul(x, a)\n q = Mul(x, b)\n y = Sub(p, q) }"
    )
    feeds = {"x": _noise(64), "a": np.array(1.1, np.float32), "b": np.array(1.1000001, np.float32)}
    (judged,) = judge([_float32(model, feeds)], None, derive_model(model, [feeds], "float32")).values()
    assert judged.metrics["budget_used"] < 1
    assert "too ill-conditioned" in judged.degenerate


def test_samples_of_different_shapes_are_judged_together() -> None:
    model = _model("g (float[N, 8] x) => (float[N, 8] y) { y = Softmax<axis=-1>(x) }")
    samples = [{"x": _noise(rows, 8)} for rows in (3, 7, 5)]
    profile = derive_model(model, samples, "float32")
    right = [_float32(model, one) for one in samples]
    (judged,) = judge(right, None, profile).values()
    assert judged.metrics["budget_used"] < 1
    right[1] = {"y": right[1]["y"] * np.float32(1 + 2**-17)}
    (judged,) = judge(right, None, profile).values()
    assert judged.metrics["budget_used"] > 1


def test_many_samples_at_once_say_what_each_says_alone() -> None:
    model = _model("g (float[N, 8] x) => (float[N, 8] y) { e = Exp(x)\n y = Softmax<axis=-1>(e) }")
    samples = [{"x": _noise(1, 8, seed=seed)} for seed in range(12)]
    together = derive_model(model, samples, "float32")
    for number, one in enumerate(samples):
        alone = derive_model(model, [one], "float32")
        assert np.allclose(together.oracle[number]["y"], alone.oracle[0]["y"], rtol=1e-12)
    assert len(together.deviation) == 12


def test_rows_that_depend_on_each_other_are_not_evaluated_together() -> None:
    model = _model("g (float[N, 8] x) => (float[N, 8] y) { m = ReduceMean<keepdims=1>(x, axes)\n y = Sub(x, m) }")
    model.graph.initializer.append(numpy_helper.from_array(np.array([0]), "axes"))
    samples = [{"x": _noise(2, 8, seed=seed)} for seed in range(6)]
    profile = derive_model(model, samples, "float32")
    for one, oracle in zip(samples, profile.oracle, strict=True):
        x = one["x"].astype(np.float64)
        assert np.allclose(oracle["y"], x - x.mean(axis=0), rtol=1e-12)


def test_a_golden_that_is_wrong_itself_is_named() -> None:
    model, feeds = _network()
    profile = derive_model(model, [feeds], "float32")
    golden = _float32(model, feeds)
    assert suspects([golden], profile) == {}
    golden["y"] = golden["y"] * np.float32(1.001)
    assert "'y' itself disagrees" in suspects([golden], profile)["y"]


def test_an_operator_without_a_rule_is_listed_and_a_plug_in_may_bring_one(monkeypatch: pytest.MonkeyPatch) -> None:
    model = _model("g (float[3, 3] x) => (float y) { y = Det(x) }")
    feeds = {"x": _noise(3, 3)}
    assert derive_model(model, [feeds], "float32").header.without_rule == ("Det",)
    monkeypatch.setattr(rules, "_loaded", {"Det": rules.relative_reduction})
    assert derive_model(model, [feeds], "float32").header.without_rule == ()


def test_what_cannot_be_evaluated_in_double_is_refused_with_its_reason() -> None:
    node = onnx.helper.make_node("Mystery", ["x"], ["y"], domain="their.own")
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("their.own", 1)]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y]), opset_imports=opsets)
    with pytest.raises(Lowering, match="Mystery"):
        derive_model(model, [{"x": _noise(1)}], "float32")


@pytest.mark.parametrize("precision", ["int8", "float17"])
def test_a_precision_without_arithmetic_is_refused(precision: str) -> None:
    with pytest.raises(UsageError, match=precision):
        arithmetic_of(precision)


def test_an_unknown_allowance_is_refused() -> None:
    with pytest.raises(UsageError, match="winograd"):
        arithmetic_of("float32", ("wino",))


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
    model = _model(f"g (float[1000] x) => (float[1000] y) {{ y = {operator}(x) }}", 22)
    feeds = {"x": np.abs(_noise(1000)) + np.float32(0.01)}
    profile = derive_model(model, [feeds], "float32")
    right = _float32(model, feeds)
    assert _budget(profile, right) < 1
    assert _budget(profile, {"y": right["y"].astype(np.float16).astype(np.float32)}) > 1


def test_subgraphs_are_noisy_too() -> None:
    text = """g (float[64] x, bool b) => (float[64] y) {
        y = If(b) <then_branch = g1 () => (float[64] t) { t = Tanh(x) },
                   else_branch = g2 () => (float[64] e) { e = Exp(x) }>
    }"""
    model = _model(text)
    feeds: dict[str, Any] = {"x": _noise(64), "b": np.array(True)}
    profile = derive_model(model, [feeds], "float32")
    assert profile.deviation[0]["y"].any()
    assert _budget(profile, _float32(model, feeds)) < 1
    assert _budget(profile, {"y": np.tanh(feeds["x"]) * np.float32(1 + 2**-18)}) > 1


def test_the_noise_of_a_product_is_that_of_its_formula() -> None:
    model = _model("g (float[64, 256] a, float[256, 64] b) => (float[64, 64] y) { y = MatMul(a, b) }")
    feeds = {"a": _noise(64, 256), "b": _noise(256, 64)}
    profile = derive_model(model, [feeds], "float32")
    a, b = feeds["a"].astype(np.float64), feeds["b"].astype(np.float64)
    value, squares, u = a @ b, (a * a) @ (b * b), 2.0**-24
    formula = u**2 / 3 * (256 * value**2 / 3 + 256 * squares / 2 + value**2)
    derived = np.mean(np.square(profile.deviation[0]["y"].astype(np.float64)))
    assert derived == pytest.approx(np.mean(formula), rel=0.1)


def test_the_noise_of_a_chain_is_that_of_its_steps_and_not_of_the_evaluation_itself() -> None:
    steps = 20
    lines = "\n".join(f"v{n + 1} = Mul(v{n}, c)" for n in range(steps))
    model = _model(f"g (float[2000] v0) => (float[2000] v{steps}) {{ {lines} }}")
    model.graph.initializer.append(numpy_helper.from_array(np.array(1.0371, np.float32), "c"))
    profile = derive_model(model, [{"v0": _noise(2000)}], "float32")
    relative = profile.deviation[0][f"v{steps}"].astype(np.float64) / np.abs(profile.oracle[0][f"v{steps}"])
    assert np.sqrt(np.mean(relative**2)) == pytest.approx(2.0**-24 * np.sqrt(steps / 3), rel=0.1)


def test_a_model_in_double_is_held_to_double_unless_the_flow_says_otherwise() -> None:
    model = _model("g (double[8, 16] x, double[16, 8] w) => (double[8, 8] y) { y = MatMul(x, w) }")
    feeds = {"x": _noise(8, 16).astype(np.float64), "w": _noise(16, 8).astype(np.float64)}
    narrow = {"y": (feeds["x"].astype(np.float32) @ feeds["w"].astype(np.float32)).astype(np.float64)}
    profile = derive_model(model, [feeds], "float32")
    assert profile.header.precision == "float64"
    assert _budget(profile, {"y": feeds["x"] @ feeds["w"]}) < 1
    assert _budget(profile, narrow) > 1000
    declared = derive_model(model, [feeds], "float32", allowances=("double-in-float32",))
    assert _budget(declared, narrow) < 1


MIXED = """
g (float[8, 16] x, float[16, 8] w) => (double[8, 8] y, float[8, 8] z) {
  a = Cast<to=11>(x)
  b = Cast<to=11>(w)
  h = MatMul(a, b)
  y = Tanh(h)
  n = Cast<to=1>(h)
  z = Tanh(n)
}
"""


def test_an_output_in_double_of_a_mixed_model_is_held_to_double_and_the_others_are_not() -> None:
    model, feeds = _model(MIXED), {"x": _noise(8, 16), "w": _noise(16, 8)}
    wide = {name: value.astype(np.float64) for name, value in feeds.items()}
    narrow = {"y": np.tanh(feeds["x"] @ feeds["w"]), "z": np.tanh(feeds["x"] @ feeds["w"])}
    backwards = wide["x"][:, ::-1] @ wide["w"][::-1]
    right = {"y": np.tanh(backwards), "z": np.tanh(backwards.astype(np.float32))}
    wrong = {**right, "y": narrow["y"].astype(np.float64)}
    profile = derive_model(model, [feeds], "float32")
    used = {name: one.metrics["budget_used"] for name, one in judge([right], None, profile).items()}
    # Neither is given away: what is allowed is used to some part.
    assert 1e-3 < used["y"] < 1
    assert 1e-3 < used["z"] < 1
    used = {name: one.metrics["budget_used"] for name, one in judge([wrong], None, profile).items()}
    assert used["y"] > 1e5
    assert used["z"] < 1
    declared = derive_model(model, [feeds], "float32", allowances=("double-in-float32",))
    assert judge([wrong], None, declared)["y"].metrics["budget_used"] < 1


def test_a_value_that_leaves_double_in_the_middle_is_rounded_there() -> None:
    """Without the noise of the cast, float32 behind it would be held to double."""
    model = _model(
        """
        g (float[64] x, double[64] d) => (float[64] z, double[64] e) {
          a = Cast<to=11>(x)
          h = Mul(a, d)
          n = Cast<to=1>(h)
          z = Identity(n)
          w = Cast<to=11>(n)
          e = Mul(w, d)
        }
        """
    )
    feeds = {"x": _noise(64), "d": _noise(64, seed=3).astype(np.float64)}
    narrow = (feeds["x"] * feeds["d"]).astype(np.float32)
    right = {"z": narrow, "e": narrow * feeds["d"]}
    profile = derive_model(model, [feeds], "float32")
    used = {name: one.metrics["budget_used"] for name, one in judge([right], None, profile).items()}
    assert used["z"] < 1
    assert 1e-2 < used["e"] < 1


def test_what_sees_no_defect_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _network()
    sound = derive_model(model, [feeds], "float32")
    assert not sound.header.blind
    assert not judge([_float32(model, feeds)], None, sound)["y"].degenerate
    # A noise rule that is wrong by ten orders of magnitude.
    monkeypatch.setitem(rules.RULES, "MatMul", lambda site, unit: np.full(site.value.shape, 1e6))
    wrong = derive_model(model, [feeds], "float32")
    assert wrong.header.blind == {"y"}
    (judged,) = judge([_float32(model, feeds)], None, wrong).values()
    assert judged.metrics["budget_used"] < 1
    assert judged.degenerate
    assert "none of the defects" in judged.degenerate or "ill-conditioned" in judged.degenerate


def test_samples_of_several_shapes_are_derived_in_groups() -> None:
    model = _model("g (float[N, 16] x) => (float[N, 16] y) { y = Softmax<axis=-1>(x) }")
    inputs = [{"x": _noise(rows, 16, seed=seed)} for seed, rows in enumerate((1, 1, 1, 2, 1, 2, 3))]
    profile = derive_model(model, inputs, "float32")
    assert [one["y"].shape[0] for one in profile.oracle] == [1, 1, 1, 2, 1, 2, 3]
    for feeds, oracle, deviation in zip(inputs, profile.oracle, profile.deviation, strict=True):
        powers = np.exp(feeds["x"].astype(np.float64))
        assert np.allclose(oracle["y"], powers / powers.sum(axis=-1, keepdims=True))
        assert deviation["y"].shape == oracle["y"].shape
        assert deviation["y"].all()


WEIGHTLESS = {
    "LayerNormalization": "g (float[3, 64] x) => (float[3, 64] y) { y = LayerNormalization(x, s) }",
    "Softmax": "g (float[3, 64] x) => (float[3, 64] y) { y = Softmax(x) }",
    "Exp": "g (float[3, 64] x) => (float[3, 64] y) { y = Exp(x) }",
}


def _weightless(operator: str) -> onnx.ModelProto:
    model = _model(WEIGHTLESS[operator])
    if operator == "LayerNormalization":
        model.graph.initializer.append(numpy_helper.from_array(np.ones(64, np.float32), "s"))
    return model


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16", "float16"])
@pytest.mark.parametrize("operator", WEIGHTLESS)
def test_a_model_without_weights_is_tried_on_defects_too(operator: str, precision: str) -> None:
    profile = derive_model(_weightless(operator), [{"x": _noise(3, 64)}], precision)
    tried = profile.header.selftest
    assert {one.mutant.partition(" at ")[0].split(" by ")[0] for one in tried} >= {"scaled", "shifted"}
    assert all(one.killed for one in tried), tried


@pytest.mark.parametrize("operator", WEIGHTLESS)
def test_a_rule_that_is_blind_to_a_model_without_weights_is_found_out(
    operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def blind(site: Any, unit: Any) -> Tensor:
        return np.full(np.shape(site.value), 1e6)

    for table in (rules.RULES, rules.INNER):
        for name in list(table):
            monkeypatch.setitem(table, name, blind)
    profile = derive_model(_weightless(operator), [{"x": _noise(3, 64)}], "bfloat16")
    assert profile.header.blind == {"y"}


@pytest.mark.parametrize(("columns", "draws"), [(16, 8), (1023, 8), (1024, 4)])
def test_where_every_output_has_many_elements_fewer_draws_do(columns: int, draws: int) -> None:
    model = _model(f"g (float[N, {columns}] x) => (float[N, {columns}] y) {{ y = Exp(x) }}")
    assert derive_model(model, [{"x": _noise(1, columns)}], "float32").header.draws == draws
    both = f"g (float[N, {columns}] x) => (float[N, {columns}] y, float[N, 1] z) {{ y = Exp(x) z = ReduceSum(y, a) }}"
    model = _model(both)
    model.graph.initializer.append(numpy_helper.from_array(np.array([1]), "a"))
    assert derive_model(model, [{"x": _noise(1, columns)}], "float32").header.draws == 8


def test_single_precision_needs_no_evaluation_of_its_own_to_differ_from(monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _network()
    short = derive_model(model, [feeds], "float32").deviation[0]["y"]
    monkeypatch.setattr("assay.numerics.tolerance.drawing._SMALL", 0.0)
    long = derive_model(model, [feeds], "float32").deviation[0]["y"]
    assert not np.array_equal(short, long)
    assert np.allclose(short, long, rtol=1e-2, atol=1e-2 * float(np.mean(long)))
