"""Sums whose roundings all go the same way: an engine that adds term by term is right, and a wrong term is still seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, parser

from assay.core.dtype import UNIT_ROUNDOFF
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.rules.sum_drift import drift_of, with_drift, with_share_of_drift
from assay.ports import Tensor

TERMS = 6625
UNIT = UNIT_ROUNDOFF["float32"]
SINGLE = np.float32
TINY = 1.4 * 2.0**-23
"""Added to a number between 1 and 2 it is rounded to one unit in the last place: 0.4 of one is lost each time."""


def _model(body: str) -> ModelProto:
    model: ModelProto = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]> g (float[2, 3, {TERMS}] x) => (float[2, 3, n] y)'
        f" <int64[1] last = {{-1}}> {{ {body} }}"
    )
    return model


def _dominated(small: float) -> Tensor:
    """Rows of one large term and thousands of tiny ones, all alike: each is rounded to the same side."""
    x = np.full((2, 3, TERMS), small, SINGLE)
    x[..., 0] = 1.0
    return x


def _one_by_one(terms: Tensor) -> Tensor:
    """Their sum in their own type, from the first to the last."""
    return np.asarray(np.add.accumulate(terms, axis=-1)[..., -1:])


def _softmax(x: Tensor) -> Tensor:
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / _one_by_one(powers))


ADDED: dict[str, tuple[str, Tensor, Any]] = {
    "Softmax": ("y = Softmax(x)", np.log(_dominated(TINY)), _softmax),
    "Exp, ReduceSum, Div": (
        "e = Exp(x) s = ReduceSum(e, last) y = Div(e, s)", np.log(_dominated(TINY)), _softmax,
    ),
    "ReduceSum": ("y = ReduceSum(x, last)", _dominated(TINY), _one_by_one),
    "ReduceMean": ("y = ReduceMean(x, last)", _dominated(TINY), lambda x: _one_by_one(x) / SINGLE(TERMS)),
    "GlobalAveragePool": ("y = GlobalAveragePool(x)", _dominated(TINY), lambda x: _one_by_one(x) / SINGLE(TERMS)),
    "ReduceL1": ("y = ReduceL1(x, last)", -_dominated(TINY), lambda x: _one_by_one(-x)),
    "ReduceL2": ("y = ReduceL2(x, last)", _dominated(TINY**0.5), lambda x: np.sqrt(_one_by_one(x * x))),
    "ReduceSumSquare": ("y = ReduceSumSquare(x, last)", _dominated(TINY**0.5), lambda x: _one_by_one(x * x)),
    "ReduceLogSum": ("y = ReduceLogSum(x, last)", _dominated(TINY), lambda x: np.log(_one_by_one(x))),
    "LpNormalization": (
        "y = LpNormalization <p = 1> (x)", _dominated(TINY), lambda x: x / _one_by_one(x),
    ),
}  # fmt: skip


def _used(body: str, x: Tensor, answer: Tensor) -> float:
    profile = derive_model(_model(body), [{"x": x}], "float32")
    return judge_outputs([{"y": np.asarray(answer, SINGLE)}], None, profile)["y"].metrics["budget_used"]


@pytest.mark.parametrize(("body", "x", "engine"), ADDED.values(), ids=ADDED)
def test_an_engine_that_adds_the_terms_one_by_one_is_right(body: str, x: Tensor, engine: Any) -> None:
    assert _used(body, x, engine(x)) < 1.0


@pytest.mark.parametrize(("body", "x", "engine"), ADDED.values(), ids=ADDED)
def test_twenty_times_as_far_off_is_wrong(body: str, x: Tensor, engine: Any) -> None:
    right, drifted = engine(x.astype(np.float64)), engine(x)
    share = float(np.max(np.abs(drifted / right - 1)))
    assert share > 100 * UNIT, "nothing drifts: the test would prove nothing"
    assert _used(body, x, right * (1 + 20 * share)) > 1.0


def test_the_drift_is_that_of_the_order_that_errs_most() -> None:
    """1 + n * 2^-24 one by one stays 1: half a unit in the last place goes to even. Of numbers that fit nothing is lost."""
    arithmetic = arithmetic_of("float32")
    drift = drift_of(_dominated(UNIT), arithmetic)
    assert drift is not None
    np.testing.assert_allclose(drift, (TERMS - 1) * UNIT, rtol=1e-6)
    whole = drift_of(np.ones((4, 100), SINGLE), arithmetic)
    assert whole is not None
    assert not whole.any()


def test_terms_beyond_single_precision_do_not_drift() -> None:
    drift = drift_of(np.full((1, 64), 1e38), arithmetic_of("float32"))
    assert drift is not None
    assert drift.tolist() == [0.0]


def test_what_is_kept_in_double_has_no_drift_of_single_precision() -> None:
    assert drift_of(_dominated(UNIT), arithmetic_of("float64")) is None


def test_independent_roundings_get_no_more_than_before() -> None:
    """So that nothing is hidden where sums are as they mostly are."""
    arithmetic, value = arithmetic_of("float32"), np.ones(200)
    for terms in np.random.default_rng(3).random((3, 200, TERMS)):
        sums = terms.sum(axis=-1)
        variance = UNIT**2 * TERMS / 9 * np.square(sums)
        with_it = with_drift(variance, terms, arithmetic, sums)
        assert float(np.mean(with_it / variance)) < 1.02
        assert with_share_of_drift(variance / sums**2, terms, arithmetic, value).shape == value.shape
