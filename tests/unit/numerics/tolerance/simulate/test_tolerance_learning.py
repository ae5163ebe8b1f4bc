"""A tolerance learnt from perturbed runs lets right engines pass and sees faults; here the plain engine is onnx.reference in float32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, numpy_helper, parser

from assay.core.case import Contract
from assay.core.comparison import Comparison
from assay.core.note import NoteCode, noted
from assay.errors import Lowering
from assay.judge.words.finding_text import finding_text
from assay.numerics.oracle.evaluator import Evaluator
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.choose_comparator import comparator_by
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance, Header, OutputNoise
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.simulate.learning import learn
from assay.ports import Tensor
from sentences import says

RANDOM = np.random.default_rng(1)
OPSET = '<ir_version: 10, opset_import: ["" : 21]>'

WHY = noted(NoteCode.REFUSED, error="a reason")


def run(model: ModelProto, inputs: Sequence[Mapping[str, Tensor]], number: int) -> list[dict[str, Any]]:
    del number
    evaluator = Evaluator(ModelProto.FromString(model.SerializeToString()))
    return [dict(zip(evaluator.output_names, evaluator.evaluate(sample), strict=True)) for sample in inputs]


def model_of(text: str, **weights: Tensor) -> ModelProto:
    model = parser.parse_model(f"{OPSET} g {text}")
    model.graph.initializer.extend(numpy_helper.from_array(weight, name) for name, weight in weights.items())
    return model


def learnt(model: ModelProto, inputs: Sequence[Mapping[str, Tensor]]) -> DerivedTolerance:
    return learn(model, inputs, "float32", run, engine="plain", why=WHY)


def real(*shape: int) -> Tensor:
    return RANDOM.standard_normal(shape).astype(np.float32)


NET = "(float[4, 64] x) => (float[4, 16] y) { h = MatMul(x, w) r = Relu(h) y = MatMul(r, v) }"


def net() -> tuple[ModelProto, list[dict[str, Tensor]]]:
    model = model_of(NET, w=real(64, 32) / 8, v=real(32, 16))
    return model, [{"x": real(4, 64)} for _ in range(2)]


def budget(answers: Sequence[Mapping[str, Tensor]], profile: DerivedTolerance, name: str = "y") -> float:
    return judge_outputs(answers, None, profile)[name].metrics["budget_used"]


def test_the_learnt_noise_is_of_the_size_that_is_derived() -> None:
    model, inputs = net()
    mine, derived = learnt(model, inputs), derive_model(model, inputs, "float32")
    ratio = np.linalg.norm(mine.deviation[0]["y"]) / np.linalg.norm(derived.deviation[0]["y"])
    assert 0.5 < ratio < 4


def test_another_order_of_summation_passes_and_a_weight_that_is_off_does_not() -> None:
    model, inputs = net()
    profile = learnt(model, inputs)
    order = RANDOM.permutation(64)
    weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    other = model_of(NET, w=weights["w"][order], v=weights["v"])
    assert 0 < budget(run(other, [{"x": sample["x"][:, order]} for sample in inputs], 0), profile) < 1
    v = weights["v"].copy()
    v[np.abs(v[:, 5]).argmax(), 5] *= 1.01
    assert budget(run(model_of(NET, w=weights["w"], v=v), inputs, 0), profile) > 1
    assert [attempt.killed for attempt in profile.header.selftest] == [True, True]
    assert (profile.header.learnt, profile.header.draws, profile.header.why) == ("plain", 16, WHY)


GRID = """(float[8, 32] x) => (float[8, 32] y)
    <float s = {0.05}, uint8 z = {128}, float b = {0.5}> { q = QuantizeLinear(x, s, z) d = DequantizeLinear(q, s, z) y = Mul(d, w) }"""


def test_a_tie_next_to_which_a_value_lies_may_fall_either_way() -> None:
    x = (np.floor(real(8, 32) * 20) * 0.05).astype(np.float32) + np.float32(0.05 * (0.5 - 2.0**-12))
    model, inputs = model_of(GRID, w=real(32)), [{"x": x}]
    profile = learnt(model, inputs)
    assert profile.header.jumps
    tipped = {"x": x + np.float32(0.05 * 2.0**-11)}
    assert not np.array_equal(run(model, [tipped], 0)[0]["y"], run(model, inputs, 0)[0]["y"])
    assert budget(run(model, [tipped], 0), profile) < 1
    assert budget([{"y": run(model, inputs, 0)[0]["y"] + np.float32(1.0)}], profile) > 1


def test_whole_numbers_may_be_any_between_those_of_perturbed_runs() -> None:
    model = model_of(
        "(float[1, 4] x) => (int64[1, 1] y) { h = Mul(x, w) y = ArgMax<axis=1>(h) }", w=np.ones(4, np.float32)
    )
    near = np.array([[1, 0, 1 + 2**-23, 0]], np.float32)
    profile = learnt(model, [{"x": near}])
    assert budget([{"y": np.array([[0]])}], profile) == 0
    assert budget([{"y": np.array([[3]])}], profile) > 1


def test_where_nothing_real_goes_in_nothing_is_learnt() -> None:
    model = model_of("(int64[3] x) => (int64[3] y) { y = Add(x, x) }")
    with pytest.raises(Lowering, check=says("no input and no weight is a real number")):
        learnt(model, [{"x": np.arange(3)}])


def test_outside_of_a_guess_nothing_is_called_wrong() -> None:
    """Where a tolerance was to be derived and there is none; one that the user chose stands."""
    without = DerivedTolerance(Header("float32", arithmetic_of("float32"), seed=0, samples=0, reason=WHY))
    expected, actual = [{"y": np.ones(8)}], [{"y": np.full(8, 1.5, np.float32)}]
    judging = comparator_by(Contract(), lambda: without, derived=True)
    (comparison,), findings = judging.compare(actual, expected, {"y": "float32"})
    assert findings == ()
    assert comparison.findings == ()
    assert comparison.tolerance == "default"
    assert "a tolerance that is a guess" in finding_text(comparison.degenerate)
    assert comparison.metrics["budget_used"] == 1.0, "the judge blames whatever is beyond its budget"
    _, findings = judging.compare([{"y": np.ones((8, 1), np.float32)}], expected, {"y": "float32"})
    assert [finding.kind for finding in findings] == ["shape"]
    chosen = comparator_by(Contract(tolerance="default"), lambda: without, derived=True)
    _, findings = chosen.compare(actual, expected, {"y": "float32"})
    assert [finding.kind for finding in findings] == ["values"]


def test_nor_in_an_engine_that_quantizes_by_itself_unless_less_than_a_bit_is_left() -> None:
    """Without the quantized model its loss and its errors are one number."""
    without = DerivedTolerance(Header("float32", arithmetic_of("float32"), seed=0, samples=0, reason=WHY))
    expected = [{"y": np.array([1.0, 0.1, -0.5, 2.0])}]
    judging = comparator_by(Contract(precision="int8"), lambda: without, derived=True)

    def compared(factor: float) -> tuple[Comparison, list[str]]:
        (comparison,), findings = judging.compare(
            [{"y": (expected[0]["y"] * factor).astype(np.float32)}], expected, {"y": "float32"}
        )
        return comparison, [finding.kind for finding in findings]

    assert compared(1.01)[1] == []
    assert compared(1.01)[0].degenerate is None
    comparison, kinds = compared(1.4)
    assert kinds == []
    assert comparison.findings == ()
    assert comparison.metrics["budget_used"] == 1.0
    assert "a tolerance that is a guess" in finding_text(comparison.degenerate)
    comparison, kinds = compared(1.6)
    assert kinds == ["values"]
    assert comparison.degenerate is None


def test_nor_at_one_output_that_has_none() -> None:
    noise = (OutputNoise("y", "float32", "none"),)
    profile = DerivedTolerance(
        Header("float32", arithmetic_of("float32"), 0, 1, noise), [{"y": np.ones(8)}], [{}], [{}]
    )
    judging = comparator_by(Contract(), lambda: profile, derived=True)
    (comparison,), findings = judging.compare(
        [{"y": np.full(8, 1.5, np.float32)}], [{"y": np.ones(8)}], {"y": "float32"}
    )
    assert findings == ()
    assert "a tolerance that is a guess" in finding_text(comparison.degenerate)
