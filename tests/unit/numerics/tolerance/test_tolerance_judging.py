"""A profile judges what it knows; everything else keeps the comparator's own limits, so that nothing goes unjudged."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from assay.core.case import Contract, Tolerance
from assay.errors import UsageError
from assay.numerics.tolerance.choice import share_out, table_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judging import Judging
from assay.ports import Tensor

DECLARED = {"y": "float32"}


def _samples(count: int) -> list[dict[str, Tensor]]:
    return [{"x": np.random.default_rng(seed).standard_normal((1, 16)).astype(np.float32)} for seed in range(count)]


def _judging(count: int, contract: Contract | None = None) -> tuple[Judging, list[dict[str, Tensor]]]:
    text = "g (float[1, 16] x) => (float[1, 16] y) { y = Softmax<axis=-1>(x) }"
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\n{text}')
    profile = derive_model(model, _samples(count), "float32")
    expected = [{"y": one["y"]} for one in profile.oracle]
    return Judging(contract or Contract(), profile), expected


def _off(expected: list[dict[str, Tensor]], factor: float) -> list[dict[str, Tensor]]:
    return [{"y": (one["y"] * factor).astype(np.float32)} for one in expected]


def test_the_profile_decides_where_nothing_else_was_said() -> None:
    judging, expected = _judging(3)
    comparisons, findings = judging.compare(_off(expected, 1.0), expected, DECLARED)
    assert findings == ()
    assert 0 < comparisons[0].metrics["budget_used"] < 1
    comparisons, findings = judging.compare(_off(expected, 1 + 2**-16), expected, DECLARED)
    assert [one.kind for one in findings] == ["values"]
    assert comparisons[0].findings == findings
    assert comparisons[0].metrics["budget_used"] > 1
    assert comparisons[0].metrics["share_out_of_torch"] < 1


def test_an_explicit_tolerance_wins_and_the_figures_are_told_all_the_same() -> None:
    judging, expected = _judging(3, Contract(tolerances={"y": Tolerance(0.1, 0.1)}))
    comparisons, findings = judging.compare(_off(expected, 1.01), expected, DECLARED)
    assert findings == ()
    assert comparisons[0].metrics["budget_used"] < 1
    assert comparisons[0].metrics["budget_norm"] > 1


def test_samples_beyond_the_profile_are_judged_by_its_noisiest_element() -> None:
    judging, _ = _judging(3)
    _, expected = _judging(6)
    comparisons, findings = judging.compare(_off(expected, 1.0), expected, DECLARED)
    assert findings == ()
    assert comparisons[0].metrics["budget_used"] < 1
    assert "first 3 of 6 samples" in judging.told[-1]
    wrong = _off(expected, 1.0)
    wrong[5] = {"y": wrong[5]["y"] * np.float32(1.001)}
    comparisons, findings = judging.compare(wrong, expected, DECLARED)
    assert [one.kind for one in findings] == ["values"]
    assert comparisons[0].findings == findings
    assert comparisons[0].metrics["budget_used"] > 1


@pytest.mark.parametrize("count", [2, 4])
def test_samples_that_the_profile_does_not_know_are_not_waved_through(count: int) -> None:
    judging, _ = _judging(3)
    _, expected = _judging(count)
    _, findings = judging.compare(_off(expected, 1.5), expected, DECLARED)
    assert "values" in [one.kind for one in findings]


def test_a_missing_output_and_another_shape_are_found() -> None:
    judging, expected = _judging(3)
    _, findings = judging.compare([{} for _ in expected], expected, DECLARED)
    assert [one.kind for one in findings] == ["missing_output"]
    _, findings = judging.compare([{"y": one["y"][0]} for one in _off(expected, 1.0)], expected, DECLARED)
    assert [one.kind for one in findings] == ["shape"]


def test_nan_is_never_within() -> None:
    judging, expected = _judging(3)
    wrong = _off(expected, 1.0)
    wrong[1]["y"][0, 3] = np.nan
    _, findings = judging.compare(wrong, expected, DECLARED)
    assert "nan" in [one.kind for one in findings]


@pytest.mark.parametrize("choice", ["loose", "fixed", "fixed:1", "fixed:1,-1", "fixed:nan,0", "fixed:a,b"])
def test_a_choice_that_is_none_is_refused(choice: str) -> None:
    with pytest.raises(UsageError, match="fixed:1e-3,1e-5"):
        table_of(choice)


def test_the_tables_are_those_of_torch_and_onnx() -> None:
    assert table_of("torch") == Tolerance(1.3e-6, 1e-5)
    assert table_of("onnx") == Tolerance(1e-3, 1e-7)
    assert table_of("fixed:0.5,0") == Tolerance(0.5, 0.0)
    expected = np.ones(4, np.float32)
    actual = expected + np.array([0, 2e-5, 5e-4, 2e-3], np.float32)
    assert share_out([(actual, expected)], "float32") == {"share_out_of_torch": 0.75, "share_out_of_onnx": 0.25}
