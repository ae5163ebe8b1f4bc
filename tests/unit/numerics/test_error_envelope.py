"""A few recorded elements answer every fixed limit as all elements would."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.case import Contract, Tolerance
from assay.core.comparison import Comparison
from assay.numerics import native_pass
from assay.numerics.compare import compare_outputs
from assay.numerics.error_envelope import MOST_CORNERS, Envelope
from assay.numerics.tolerance.fixed_limits import by_limits

Array = np.ndarray[Any, Any]
LIMITS = st.sampled_from([0.0, 1e-12, 1e-7, 1.3e-6, 1e-5, 1e-3, 0.02, 1.0, 30.0])
SPECIALS = [0.0, -0.0, 1e-40, 1.0, -1.0, 3e38, -3e38, np.nan, np.inf, -np.inf]


def _by(actual: Array, expected: Array, rtol: float, atol: float) -> Comparison:
    contract = Contract(tolerances={"o": Tolerance(rtol, atol)})
    return compare_outputs([{"o": actual}], [{"o": expected}], contract)[0][0]


def _used(actual: Array, expected: Array, rtol: float, atol: float) -> float:
    """Of all elements that are finite on both sides, by the definition."""
    left, right = actual.astype(np.float64), expected.astype(np.float64)
    known = np.isfinite(left) & np.isfinite(right)
    with np.errstate(all="ignore"):
        error, allowed = np.abs(left - right)[known], (np.abs(right) * rtol + atol)[known]
        shares = np.where(error == 0.0, 0.0, np.where(allowed > 0.0, error / allowed, np.inf))
    return float(shares.max(initial=0.0))


def _pair(size: int, seed: int, noise: str, special: float | None, dtype: str) -> tuple[Array, Array]:
    random = np.random.default_rng(seed)
    expected = random.standard_normal(size) * 10.0 ** random.integers(-3, 3, size)
    errors = {
        "none": np.zeros(size),
        "even": 1e-6 * random.standard_normal(size),
        "relative": 1e-6 * expected * random.standard_normal(size),
        "curve": 1e-4 * np.sqrt(np.abs(expected)),
        "one": np.where(random.integers(0, size, size) == 0, 0.5, 0.0),
        "offset": np.full(size, 0.25),
    }[noise]
    actual = (expected + errors).astype(dtype)
    if special is not None:
        actual[random.integers(0, size)] = special
    return actual, expected.astype(dtype)


@pytest.mark.heavy
@settings(max_examples=300, deadline=None)
@given(
    size=st.one_of(st.integers(1, 60), st.integers(1000, 40000)),
    seed=st.integers(0, 2**32 - 1),
    noise=st.sampled_from(["none", "even", "relative", "curve", "one", "offset"]),
    special=st.one_of(st.none(), st.sampled_from(SPECIALS)),
    dtype=st.sampled_from(["float32", "float64", "float16"]),
    rtol=LIMITS,
    atol=LIMITS,
    other_rtol=LIMITS,
    other_atol=LIMITS,
)
def test_what_was_recorded_under_one_limit_answers_another(
    size: int,
    seed: int,
    noise: str,
    special: float | None,
    dtype: str,
    rtol: float,
    atol: float,
    other_rtol: float,
    other_atol: float,
) -> None:
    with np.errstate(over="ignore"):
        actual, expected = _pair(size, seed, noise, special, dtype)
    asked = _by(actual, expected, rtol, atol)
    again = by_limits(_by(actual, expected, other_rtol, other_atol), rtol, atol)
    assert again.metrics["budget_used"] == asked.metrics["budget_used"]
    assert [finding.kind for finding in again.findings] == [finding.kind for finding in asked.findings]
    assert again.degenerate == asked.degenerate
    assert (again.rtol, again.atol) == (rtol, atol)
    assert by_limits(asked, rtol, atol) == asked
    evidence = asked.evidence
    assert evidence is not None
    assert len(evidence.corners) <= MOST_CORNERS
    true = _used(actual, expected, rtol, atol)
    limit = math.inf if evidence.clashing else true
    assert asked.metrics["budget_used"] == pytest.approx(limit, rel=evidence.slack + 1e-9)
    assert asked.metrics["budget_used"] >= limit * (1 - 1e-9)
    assert evidence.slack < 0.015


@pytest.mark.heavy
@pytest.mark.parametrize("compiled", [True, False])
def test_a_large_output_has_a_few_corners_by_either_pass(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr(native_pass, "compiled_kernel", lambda: None)
    random = np.random.default_rng(1)
    expected = random.standard_normal(5_000_000).astype(np.float32)
    actual = expected + 1e-6 * random.standard_normal(expected.size).astype(np.float32)
    comparison = _by(actual, expected, 1e-6, 1e-6)
    assert comparison.evidence is not None
    assert 3 <= len(comparison.evidence.corners) <= 30
    assert comparison.evidence.slack == 0.0
    for rtol, atol in ((0.0, 1e-6), (1e-3, 0.0), (1e-5, 1e-7)):
        assert by_limits(comparison, rtol, atol).metrics["budget_used"] == pytest.approx(
            _used(actual, expected, rtol, atol)
        )


def test_a_smooth_curve_of_errors_keeps_a_bounded_number_of_corners() -> None:
    size = np.linspace(1.0, 100.0, 50_000)
    error = np.sqrt(size)
    envelope = Envelope()
    for part in np.array_split(np.random.default_rng(0).permutation(size.size), 20):
        envelope.add(size[part], error[part], size[part], size[part] + error[part], part)
    assert envelope.size.size <= MOST_CORNERS
    assert 0.0 < envelope.slack < 5e-3
    assert (error <= (1 + envelope.slack) * envelope.at(size) * (1 + 1e-12)).all()


def test_the_largest_numbers_do_not_overflow() -> None:
    big = np.array([1.5e308, 1.0])
    comparison = _by(-big, big, 1.0, 0.0)
    assert comparison.metrics["budget_used"] == pytest.approx(2.0)
