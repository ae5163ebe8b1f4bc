"""What a plain evaluation in float32 does not get either is no fault of an engine; what it gets is."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import parser

from assay.core.flow import Flow
from assay.generators.case_values import CaseValues
from assay.generators.comparison import Far, far_of
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

FLOW = Flow("onnxruntime", "onnxruntime")


def _values(text: str, x: Tensor) -> CaseValues:
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 13]> g {text}')
    values = CaseValues(GeneratedCase(model.SerializeToString(), {"x": x}))
    values.evaluate()
    return values


@pytest.mark.parametrize("given", [0.0, np.inf, np.nan])
@pytest.mark.parametrize(("size", "right"), [(1.4e-25, True), (1e-12, False)])
def test_a_row_whose_squares_vanish_may_be_anything_and_no_other_row(size: float, given: float, *, right: bool) -> None:
    """The largest number of all is 2: the row alone is small."""
    x = np.asarray([[size, -size], [1, 2]], np.float32)
    values = _values("(float[2, 2] x) => (float[2, 2] y) { y = LpNormalization(x) }", x)
    answer = values.expected("y").copy()
    answer[0] = given
    assert (far_of({"y": answer}, values, FLOW, 7) == Far()) is right
    answer[1] = 0
    assert far_of({"y": answer}, values, FLOW, 7).kind


def test_what_a_norm_of_its_own_nodes_loses_is_lost_too() -> None:
    """A variance of 1e-50, as its nodes have it; the reciprocal of its root is 1e25."""
    x = np.asarray([[1e-25, -1e-25]], np.float32)
    text = (
        "(float[1, 2] x) => (float[1, 2] y) { s = Mul(x, x) m = ReduceMean<axes = [1]>(s) r = Sqrt(m) y = Div(x, r) }"
    )
    values = _values(text, x)
    assert far_of({"y": np.zeros((1, 2), np.float32)}, values, FLOW, 7) == Far()


def test_a_sum_that_is_not_finite_and_need_not_be_is_wrong() -> None:
    x = np.full((1, 2), 100, np.float32)
    values = _values("(float[1, 2] x) => (float[1, 1] y) { y = ReduceLogSumExp<axes = [1]>(x) }", x)
    assert far_of({"y": np.full((1, 1), np.inf, np.float32)}, values, FLOW, 7).kind == "range"


@pytest.mark.parametrize(
    ("given", "kind"), [(0.0, ""), (8.0, ""), (-1e6, "values"), (np.nan, "range"), (np.inf, "range")]
)
def test_what_float32_loses_by_rounding_may_be_as_far_off_and_no_further(given: float, kind: str) -> None:
    """x + 1e8 - 1e8: in float32 0 or 8."""
    text = "(float[4] x) => (float[4] y) <float big = {1e8}> { a = Add(x, big) y = Sub(a, big) }"
    values = _values(text, np.float32([1, 2, 3, 4]))
    assert far_of({"y": np.full(4, given, np.float32)}, values, FLOW, 7).kind == kind


@pytest.mark.parametrize(
    ("large", "given", "kind"),
    [("1e8", np.nan, ""), ("1e8", 7.0, ""), ("1e2", np.nan, "range"), ("1e2", 7.0, "values")],
)
def test_where_the_plain_evaluation_has_no_number_none_is_asked_for(large: str, given: float, kind: str) -> None:
    """What is left of x + 1e8 - 1e8 is 0, and 0 / 0 no number."""
    text = f"(float[2] x) => (float[2] y) <float big = {{{large}}}> {{ a = Add(x, big) b = Sub(a, big) y = Div(b, b) }}"
    assert far_of({"y": np.full(2, given, np.float32)}, _values(text, np.float32([1, 2])), FLOW, 7).kind == kind
