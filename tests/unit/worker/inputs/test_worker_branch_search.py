"""Samples are changed so that each branch of an If is taken, where values of inputs decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from assay.core.input_plan import InputPlan
from assay.models.input_plan.draw_plan import plan_of
from assay.models.onnx_file import open_model
from assay.models.random_inputs import random_inputs
from assay.numerics.oracle.branches import TakenBranches, branches_of
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.oracle.hooks import observed_by
from assay.ports import Tensor
from assay.worker.inputs.branch_search import BranchSearch

Samples = list[dict[str, Tensor]]
BOTH = "then_branch = a () => (float[4] p) { p = Exp(x) }, else_branch = b () => (float[4] q) { q = Tanh(x) }"
BY_SUM = f"""g (float[4] x, float[4] other) => (float[4] y) {{
    six = Constant<value_float = 6.0>()
    sum = ReduceSum<keepdims = 0>(x)
    high = Greater(sum, six)
    r = If(high) <{BOTH}>
    y = Add(r, other)
}}"""
BY_MODE = f"""g (float[4] x, int64 mode) => (float[4] y) {{
    two = Constant<value_int = 2>()
    c = Equal(mode, two)
    y = If(c) <{BOTH}>
}}"""
IN_A_LOOP = f"""g (float[4] x, float least) => (float[4] y) {{
    trips = Constant<value_int = 3>()
    go = Constant<value = bool {{1}}>()
    y = Loop(trips, go, x) <body = l (int64 i, bool c, float[4] s) => (bool more, float[4] t) {{
        more = Identity(c)
        c40 = Constant<value_float = 40.0>()
        h = Less(c40, least)
        t = If(h) <{BOTH}>
    }}>
}}"""
BY_FOUR = f"""g (float[4] x, bool a, bool b, bool c, bool d) => (float[4] y) {{
    ab = And(a, b)
    cd = And(c, d)
    all = And(ab, cd)
    y = If(all) <{BOTH}>
}}"""
BY_INDEX = f"""g (float[4] x, int64 at) => (float[4] y) {{
    table = Constant<value_floats = [{"0.0, " * 50} 1.0]>()
    row = Gather(table, at)
    half = Constant<value_float = 0.5>()
    c = Greater(row, half)
    y = If(c) <{BOTH}>
}}"""


def _searched(folder: Path, text: str, samples: int = 3) -> tuple[Samples, Samples, InputPlan, Samples]:
    """Inputs, answers and plan after the search, and the inputs before it."""
    proto = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{text}')
    onnx.save(proto, folder / "m.onnx")
    model = open_model(folder / "m.onnx")
    plan = plan_of(model, batch=1, fixed={}, stated={})
    before = random_inputs(model, seed=0, samples=samples, batch=1, plan=plan)
    answer = _answering(proto)
    search = BranchSearch(folder / "m.onnx", model, seed=0)
    return *search.improve(before, answer(before), plan, answer), before


def _answering(proto: onnx.ModelProto) -> Callable[[Samples], Samples]:
    names = [value.name for value in proto.graph.output]
    evaluator = Evaluator(proto)
    return lambda samples: [dict(zip(names, evaluator.evaluate(sample), strict=True)) for sample in samples]


def test_a_branch_that_holds_another_if_alone_is_taken_with_it() -> None:
    inner = f"then_branch = i () => (float[4] o) {{ o = If(b) <{BOTH}> }}, else_branch = e () => (float[4] r) {{ r = Neg(x) }}"
    text = f"g (float[4] x, bool a, bool b) => (float[4] y) {{ y = If(a) <{inner}> }}"
    proto = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{text}')
    watching = TakenBranches()
    with observed_by(watching):
        Evaluator(proto).evaluate({"x": np.ones(4, np.float32), "a": np.array(True), "b": np.array(False)})
    taken = [
        (branch.node, branch.kind) for branch in branches_of(proto.graph) if not branch.values.isdisjoint(watching.met)
    ]
    assert taken == [("y", "then"), ("o", "else")]


@pytest.mark.parametrize("text", [BY_SUM, BY_MODE, IN_A_LOOP, BY_FOUR, BY_INDEX])
def test_each_branch_is_taken_by_a_sample(tmp_path: Path, text: str) -> None:
    inputs, outputs, plan, before = _searched(tmp_path, text)
    assert [np.array_equal(inputs[0][name], before[0][name]) for name in inputs[0]] == [True] * len(inputs[0])
    assert plan.branch_tries > 0
    taken = set()
    for sample, given in zip(inputs, outputs, strict=True):
        rest = given["y"] - sample.get("other", np.float32(0))
        taken |= {"then"} if np.allclose(rest, np.exp(sample["x"]), rtol=1e-3) else set()
        taken |= {"else"} if np.allclose(rest, np.tanh(sample["x"]), atol=1e-4) else set()
    assert taken == {"then", "else"} or text == IN_A_LOOP
    assert len(plan.branch_samples) == 1
    (place,) = plan.branch_samples
    assert place > 0
    if text == BY_SUM:
        assert np.array_equal(inputs[place]["other"], before[0]["other"]), "it decides nothing"


def test_one_sample_stays_as_it_is(tmp_path: Path) -> None:
    inputs, _, plan, before = _searched(tmp_path, BY_SUM, samples=1)
    assert (inputs, plan.branch_samples) == (before, ())


def test_values_stay_inside_of_what_the_model_takes(tmp_path: Path) -> None:
    inputs, _, _, _ = _searched(tmp_path, BY_INDEX)
    assert all(0 <= sample["at"] <= 50 for sample in inputs)


def test_a_branch_that_no_value_reaches_ends_the_search(tmp_path: Path) -> None:
    text = BY_SUM.replace("Greater(sum, six)", "Greater(minus, six)").replace("high =", "minus = Neg(square)\n high =")
    inputs, _, plan, before = _searched(tmp_path, text.replace("minus = Neg", "square = Mul(sum, sum)\n minus = Neg"))
    assert plan.branch_samples == ()
    assert 10 < plan.branch_tries <= 200
    assert all(np.array_equal(sample["x"], other["x"]) for sample, other in zip(inputs, before, strict=True))


def test_where_nobody_can_look_into_the_reference_the_graph_is_looked_into(tmp_path: Path) -> None:
    """An engine of another library, say: it answers what is found."""
    _searched(tmp_path, BY_SUM)
    model = open_model(tmp_path / "m.onnx")
    before = random_inputs(model, seed=0, samples=2, batch=1)
    blind = lambda samples: [{"y": -sample["x"]} for sample in samples]  # noqa: E731
    search = BranchSearch(tmp_path / "m.onnx", model, seed=0)
    inputs, outputs, plan = search.improve(before, blind(before), InputPlan(), blind)
    assert plan.branch_samples == (1,)
    assert inputs[1]["x"].sum() > 6
    assert np.array_equal(outputs[1]["y"], -inputs[1]["x"])
    nowhere = BranchSearch(None, model, seed=0)
    same, _, unchanged = nowhere.improve(before, blind(before), InputPlan(), blind)
    assert same is before
    assert unchanged == InputPlan()


@pytest.mark.parametrize(
    ("shape", "steps", "decided"),
    [
        ("N", "s = Shape(x) n = Gather(s, zero) c = Greater(n, zero)", [("then", [], True), ("else", [], True)]),
        ("4", "s = Shape(x) n = Gather(s, zero) c = Greater(n, zero)", []),
        ("4", "c = Greater(zero, zero)", []),
        ("N", "m = ReduceMax<keepdims=0>(x) n = Cast<to=7>(m) c = Greater(n, zero)", [("then", ["x"], False), ("else", ["x"], False)]),
    ],
)  # fmt: skip
def test_what_decides_a_branch(shape: str, steps: str, decided: list[tuple[str, list[str], bool]]) -> None:
    """Neither what is constant nor sizes that are fixed."""
    text = f"g (float[{shape}] x) => (float[M] y) {{ zero = Constant<value_int = 0>() {steps} y = If(c) <{BOTH}> }}"
    graph = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["" : 17]>\n{text}').graph
    assert [(branch.kind, sorted(branch.inputs), branch.by_sizes) for branch in branches_of(graph)] == decided
