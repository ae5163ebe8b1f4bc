"""Quantized models: a value next to a tie may fall to either side and take others along; what is wrong may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from assay.numerics.oracle.evaluator import Evaluator, WideEvaluator
from assay.numerics.oracle.hooks import Call, Hook, observed_by
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.output_judgement import OutputJudgement
from assay.numerics.tolerance.judge.statistics import statistics
from assay.numerics.tolerance.rules.rounding_steps import HalfStep, StepRecorder
from assay.numerics.tolerance.simulate import monte_carlo, tie_breaking
from assay.numerics.tolerance.simulate.site_recorder import SiteRecorder
from assay.ports import Tensor

FIXED_POINT = 2.0**-10
"""Steps: what a requantisation in fixed point errs by."""


class Otherwise(Hook):
    """Another correct engine: it requantizes by a multiplier of its own precision."""

    def __init__(self, seed: int, steps: float = FIXED_POINT) -> None:
        self._random = np.random.default_rng(seed)
        self._steps = steps

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        noise = self._random.normal(0, self._steps, value.shape)
        return (value + noise).astype(value.dtype) if kind == "steps" else value


class Tipped(Hook):
    """One value, at the place `at` of the first rounding, on the other side of its tie."""

    def __init__(self, at: tuple[int, ...]) -> None:
        self._at, self._first = at, True

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        if kind != "steps" or not self._first:
            return value
        self._first = False
        moved = value.copy()
        above = np.ceil(value[self._at] - 0.5) == np.rint(value[self._at])
        moved[self._at] -= 0.02 if above else -0.02
        return moved


def _model(body: str, weights: dict[str, Tensor]) -> onnx.ModelProto:
    model: onnx.ModelProto = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{body}')
    scales = {"s": np.float32(0.05), "t": np.float32(0.25), "zero": np.int8(3)}
    model.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(array), name) for name, array in {**scales, **weights}.items()
    )
    return model


def _layers(depth: int, tail: str = "y = Identity(h{depth})") -> onnx.ModelProto:
    """Products, each of whose results is put on a grid again. `tail` makes y of the last."""
    lines = ["q0 = QuantizeLinear(x, s, zero)", "h0 = DequantizeLinear(q0, s, zero)"]
    weights = {}
    for layer in range(1, depth + 1):
        lines += [
            f"m{layer} = MatMul(h{layer - 1}, w{layer})",
            f"a{layer} = Add(m{layer}, b{layer})",
            f"q{layer} = QuantizeLinear(a{layer}, t, zero)",
            f"h{layer} = DequantizeLinear(q{layer}, t, zero)",
        ]
        drawn = np.random.default_rng(layer)
        weights[f"w{layer}"] = (drawn.standard_normal((24, 24)) * 0.35).astype(np.float32)
        weights[f"b{layer}"] = drawn.standard_normal(24).astype(np.float32)
    body = "\n".join([*lines, tail.format(depth=depth)])
    return _model(f"g (float[N, 24] x) => (float[N, M] y) {{ {body} }}", weights)


def _held(model: onnx.ModelProto, name: str) -> Tensor:
    return numpy_helper.to_array(next(tensor for tensor in model.graph.initializer if tensor.name == name))


def _with(model: onnx.ModelProto, name: str, value: Tensor) -> onnx.ModelProto:
    """A copy with another value (or one more)."""
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    kept = [tensor for tensor in changed.graph.initializer if tensor.name != name]
    del changed.graph.initializer[:]
    changed.graph.initializer.extend([*kept, numpy_helper.from_array(value, name)])
    return changed


def _feeds(rows: int, seed: int = 0) -> dict[str, Tensor]:
    return {"x": np.random.default_rng([seed, rows]).standard_normal((rows, 24)).astype(np.float32)}


def _judged(
    profile: DerivedTolerance, model: onnx.ModelProto, feeds: dict[str, Tensor], probe: Hook | None = None
) -> OutputJudgement:
    with observed_by(probe or Hook()):
        (y,) = Evaluator(model).evaluate(feeds)
    return judge_outputs([{"y": y}], None, profile)["y"]


def _used(*asked: Any) -> float:
    return _judged(*asked).metrics["budget_used"]


@pytest.mark.parametrize("tail", ["y = Identity(h{depth})", "y = Relu(h{depth})", "y = MatMul(h{depth}, w1)"])
@pytest.mark.parametrize("rows", [4, 300])
def test_values_that_flip_elsewhere_are_no_error(rows: int, tail: str) -> None:
    model, feeds = _layers(5, tail), _feeds(rows)
    profile = derive_model(model, [feeds], "float32")
    assert profile.deviation[0]["y"].any(), "nothing flips in this model: the test would prove nothing"
    used = [_used(profile, model, feeds, Otherwise(seed)) for seed in range(10)]
    assert max(used) <= 1.0, used


@pytest.mark.parametrize("seed", [1, 10])
def test_a_row_that_jumps_as_one_may_be_one_that_no_draw_moved(seed: int) -> None:
    """One value that tips in the first of five layers takes its whole row along: few rows jump, each of them far."""
    model, feeds = _layers(5), _feeds(300, seed)
    profile = derive_model(model, [feeds], "float32", seed=seed)
    used = [_used(profile, model, feeds, Otherwise(engine + 100 * seed)) for engine in range(6)]
    assert max(used) <= 1.0, used
    wrong = _with(model, "w3", _held(model, "w3") * np.float32(1.02))
    assert _used(profile, wrong, feeds) > 1.0, "weights off by 2 %"
    (y,) = Evaluator(model).evaluate(feeds)
    y = y.copy()
    y[17] = y[18]
    assert judge_outputs([{"y": y}], None, profile)["y"].findings, "a row taken for another"


def test_what_is_wrong_is_still_seen_where_values_flip() -> None:
    model, feeds = _layers(5), _feeds(300)
    profile = derive_model(model, [feeds], "float32")
    assert _used(profile, model, feeds, Otherwise(0, steps=1.0)) > 1.0, "a coarser requantisation"
    assert _used(profile, _with(model, "b3", np.zeros(24, np.float32)), feeds) > 1.0, "a bias dropped"
    bias = _held(model, "b5").copy()
    bias[7] = 0
    assert _used(profile, _with(model, "b5", bias), feeds) > 1.0, "one element of the last bias dropped"
    assert _used(profile, _with(model, "t", np.asarray(np.float32(0.2575))), feeds) > 1.0, "scales off by 3 %"
    wrong = _with(model, "off", np.asarray(np.int8(4)))
    next(node for node in wrong.graph.node if node.output[0] == "q5").input[2] = "off"
    assert _used(profile, wrong, feeds) > 1.0, "the last zero point off by one"


def test_what_was_moved_does_not_come_back_to_where_it_was() -> None:
    """It would pass for what no jump reaches, and be held to float32."""
    model, feeds = _layers(3), _feeds(100)
    steps, evaluator = StepRecorder(Hook()), WideEvaluator(model)
    wide = {"x": feeds["x"].astype(np.float64)}
    with observed_by(steps):
        (exact,) = evaluator.evaluate(wide)
    with observed_by(HalfStep(steps.found, (1,), FIXED_POINT, 1)):
        (shaken,) = evaluator.evaluate(wide)
    reached = np.any(shaken != exact, axis=1)
    alone = np.count_nonzero(shaken != exact, axis=1) <= 3  # only the last grid is at a boundary there
    assert reached.sum() > 50
    assert np.count_nonzero(shaken[reached & ~alone] == exact[reached & ~alone]) == 0


@pytest.mark.parametrize("tail", ["y = Identity(h{depth})", "r = Round(h{depth})\nf = Floor(x)\ny = Add(r, f)"])
@pytest.mark.parametrize("at_once", [monte_carlo.AT_ONCE, 5 * 20 * 24])
def test_rows_tip_shake_and_lean_as_each_would_alone(tail: str, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model, feeds = _layers(3, tail), _feeds(20)
    evaluated: list[int] = []
    original = tie_breaking.TieTracker._evaluated

    def counted(self: tie_breaking.TieTracker, place: int, inputs: Any) -> Any:
        evaluated.append(len(self.found))
        return original(self, place, inputs)

    monkeypatch.setattr(SiteRecorder, "in_single", lambda *_: False)  # alone, everything is in double
    monkeypatch.setattr(tie_breaking.TieTracker, "_evaluated", counted)
    monkeypatch.setattr(monte_carlo, "AT_ONCE", at_once)
    together = derive_model(model, [feeds], "float32")
    assert set(evaluated) == {6}, "not rows of the draws' evaluation"
    monkeypatch.setattr(monte_carlo, "AT_ONCE", 0)
    alone = derive_model(model, [feeds], "float32")
    assert set(evaluated) == {6, 0}
    assert together.margins[0].keys() == alone.margins[0].keys()
    for name, value in alone.margins[0].items():
        np.testing.assert_allclose(together.margins[0][name], value, rtol=1e-6, atol=1e-9, err_msg=name)
    assert all(together.margins[0][f"y/{kind}"].any() for kind in ("tipped", "shaken", "up", "down"))


def test_a_branch_that_nothing_rounds_is_held_to_float32() -> None:
    model, feeds = _layers(5, "f = MatMul(x, w1)\ny = Concat<axis=1>(h{depth}, f)"), _feeds(300)
    profile = derive_model(model, [feeds], "float32")
    for seed in range(3):
        assert _used(profile, model, feeds, Otherwise(seed)) <= 1.0
    (y,) = Evaluator(model).evaluate(feeds)
    y = y.copy()
    y[17, 40] *= 1.001
    assert judge_outputs([{"y": y}], None, profile)["y"].findings


def test_one_value_next_to_a_tie_may_fall_to_either_side_and_no_other() -> None:
    model, feeds = _layers(1, "y = MatMul(h{depth}, w1)"), _feeds(4)
    x = np.round(feeds["x"] / 0.05) * np.float32(0.05)  # nothing near a tie ...
    x[1, 5] = 0.05 * (7.5 + 3 * FIXED_POINT)  # ... but one: draws of true size rarely tip it
    feeds = {"x": x.astype(np.float32)}
    bare = _layers(0, "y = MatMul(h{depth}, w1)")
    bare.graph.initializer.extend(tensor for tensor in model.graph.initializer if tensor.name == "w1")
    profile = derive_model(bare, [feeds], "float32")
    assert profile.deviation[0]["y"].max() < 1e-3, "the draws tip it: the test would prove nothing"
    assert _used(profile, bare, feeds, Tipped((1, 5))) <= 1.0
    (y,) = Evaluator(bare).evaluate(feeds)
    for row in (0, 2, 3):  # the same jump in a row where no value lies near a tie
        wrong = y.copy()
        wrong[row] += 0.05 * numpy_helper.to_array(bare.graph.initializer[-1])[5]
        assert judge_outputs([{"y": wrong}], None, profile)["y"].findings


def test_a_graph_without_rounding_knows_nothing_of_jumps() -> None:
    model = _model("g (float[N, 24] x) => (float[N, 24] y) { y = Softmax(x) }", {})
    assert derive_model(model, [_feeds(4)], "float32").margins == [{}]


def test_a_grid_may_be_left_by_a_product_and_an_offset() -> None:
    """OpenVINO's FakeQuantize gives q * scale + low, whose low is where the grid begins: its error is of that size everywhere."""
    feeds = {"x": np.linspace(-0.9, 0.9, 192, dtype=np.float32).reshape(16, 12)}
    feeds["x"] = (np.rint(feeds["x"] / 0.05) * 0.05 + 0.01).astype(np.float32)
    body = "q = QuantizeLinear(x, s, zero)\ny = DequantizeLinear(q, s, zero)"
    model = _model(f"g (float[N, 12] x) => (float[N, 12] y) {{ {body} }}", {})
    profile = derive_model(model, [feeds], "float32")
    scale, low = np.float32(0.05), np.float32(-131) * np.float32(0.05)
    steps = np.clip(np.rint(feeds["x"] / scale) + 3, -128, 127) + 128
    answer = (steps.astype(np.float32) * scale + low).astype(np.float32)
    assert judge_outputs([{"y": answer}], None, profile)["y"].metrics["budget_used"] < 1
    assert judge_outputs([{"y": answer + np.float32(2e-5)}], None, profile)["y"].metrics["budget_used"] > 1


@pytest.mark.parametrize("shape", [(1, 8), (16, 4)])
def test_one_step_may_be_where_no_evaluation_shows_a_jump(shape: tuple[int, ...]) -> None:
    """Few elements, all next to boundaries: that none tipped in the few evaluations that there are was luck."""
    quiet, reach = [np.full(shape, 1e-14)], [(np.zeros(shape), np.full(shape, 0.2))]
    single, three = np.zeros(shape), np.zeros(shape)
    single.flat[3] = 0.1
    three.flat[3:6] = 0.1

    def used(error: Tensor, jumps: list[tuple[Tensor, Tensor]]) -> float:
        return statistics([error], quiet, quiet, 8, jumps=jumps).budgets["budget_used"]

    assert used(single, reach) <= 1
    assert used(3 * single, reach) > 1
    assert used(three, reach) > 1
    assert used(single, [(np.zeros(shape), np.zeros(shape))]) > 1


@pytest.mark.parametrize(("noisy", "passes"), [(1, True), (12, False)])
def test_few_noisy_elements_do_not_say_how_far_a_rare_jump_goes(noisy: int, passes: bool) -> None:
    """Draws have seen one step, tipped evaluations fifteen. Were there many such elements, some draw would have shown it."""
    variance, tipped, error = (np.zeros((1, 64)) for _ in range(3))
    variance[0, :noisy], tipped[0, :noisy], error[0, 0] = (0.0024**2, 0.06, 0.06)
    figures = statistics([error], [variance], [np.full((1, 64), 1e-14)], 8, jumps=[(tipped, np.zeros((1, 64)))])
    assert (figures.budgets["budget_used"] <= 1) is passes


class Up(Hook):
    """A correct engine that rounds every tie up."""

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        return np.asarray(value + value.dtype.type(2.0**-18)) if kind == "steps" else value


@pytest.mark.parametrize("seed", [1, 2, 7, 8])
def test_ties_that_all_go_up_take_along_what_no_draw_moves(seed: int) -> None:
    """Means of means of grid values: half of them ties, and those of the second grid are reached only where several of the first
    go the same way."""
    whole = np.random.default_rng(seed).integers(-6, 7, (8, 2, 8, 8))
    feeds = {"x": (np.float32(0.05) * whole).astype(np.float32)}
    lines = ["q0 = QuantizeLinear(x, s, zero)", "h0 = DequantizeLinear(q0, s, zero)"]
    for layer in (1, 2):
        lines.append(f"p{layer} = AveragePool<kernel_shape = [2, 2]>(h{layer - 1})")
        lines += [f"q{layer} = QuantizeLinear(p{layer}, s, zero)", f"h{layer} = DequantizeLinear(q{layer}, s, zero)"]
    text = "\n".join([*lines, "y = Identity(h2)"])
    model = _model(f"g (float[8, 2, 8, 8] x) => (float[8, 2, 6, 6] y) {{ {text} }}", {})
    assert _used(derive_model(model, [feeds], "float32"), model, feeds, Up()) <= 1
