"""Where the fast pass could go wrong: on the edge of an allowance, at ties, at values whose squares float32 cannot hold."""

import numpy as np
import pytest

from assay.core.case import Contract, Tolerance
from assay.judge.words.finding_text import finding_text
from assay.numerics import chunks
from assay.numerics.compare import compare_outputs


def compared(actual, expected, rtol=0.0, atol=0.5):
    contract = Contract(tolerances={"*": Tolerance(rtol=rtol, atol=atol)})
    (comparison,), findings = compare_outputs([{"o": actual}], [{"o": expected}], contract)
    return comparison, [finding.kind for finding in findings]


@pytest.mark.parametrize(("atol", "share"), [(2.0**-10 * (1 + 1e-9), 0.0), (2.0**-10 * (1 - 1e-9), 0.5)])
def test_double_precision_decides_on_which_side_of_its_allowance_an_element_is(atol, share):
    expected = np.linspace(1.0, 1.5, 1000, dtype=np.float16).astype(np.float32)
    actual = expected.copy()
    actual[::2] += np.float32(2.0**-10)
    assert compared(actual, expected, atol=atol)[0].metrics["share_out_of_tolerance"] == share


@pytest.mark.parametrize("n", [40, chunks.CHUNK + 40, chunks.BLOCK + 40])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_of_equally_wrong_elements_the_first_are_told(n, dtype):
    expected = (np.arange(n) % 7).astype(dtype)
    comparison, _ = compared(expected + dtype(1.0), expected)
    assert [worst.index for worst in comparison.worst] == [(0, position) for position in range(10)]


@pytest.mark.parametrize("scale", [1e-37, 1e-30, 1e-22, 1e-15, 1e15, 1e22, 1e30, 1e37])
def test_squares_beyond_float32_are_summed_all_the_same(scale):
    rng = np.random.default_rng(0)
    expected = (rng.uniform(0.5, 1.5, 5000) * scale).astype(np.float32)
    actual = (expected * np.float32(1.01)).astype(np.float32)
    a, e = actual.astype(np.float64), expected.astype(np.float64)
    metrics = compared(actual, expected, atol=max(1e-29, scale))[0].metrics
    assert metrics["rmse"] == pytest.approx(np.sqrt(np.mean((a - e) ** 2)), rel=1e-6)
    assert metrics["mean_abs"] == pytest.approx(np.mean(np.abs(a - e)), rel=1e-6)
    assert metrics["norm_ratio"] == pytest.approx(np.linalg.norm(a) / np.linalg.norm(e), rel=1e-6)
    assert metrics["rel_l2"] == pytest.approx(np.linalg.norm(a - e) / np.linalg.norm(e), rel=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_saturated_output_is_seen_though_a_few_of_its_values_are_alive(dtype):
    expected = np.random.default_rng(0).standard_normal(1000).astype(dtype)
    actual = np.full(1000, np.finfo(dtype).max, dtype)
    actual[::126] = np.arange(8)
    comparison, kinds = compared(actual, expected)
    assert kinds == ["degenerate", "values"]
    assert "saturated" in finding_text(comparison.degenerate)


def test_an_output_constant_but_for_one_element_is_no_collapse():
    expected = np.random.default_rng(0).standard_normal(1000, dtype=np.float32)
    actual = np.zeros(1000, np.float32)
    actual[77] = 1.0
    assert compared(actual, expected)[1] == ["values"]


def test_quantiles_of_a_large_output_are_interpolated():
    rng = np.random.default_rng(0)
    expected = rng.standard_normal(500_000, dtype=np.float32)
    actual = expected + rng.standard_normal(500_000, dtype=np.float32)
    error = np.abs(actual.astype(np.float64) - expected)
    metrics = compared(actual, expected)[0].metrics
    for name, share in (("abs_p50", 0.5), ("abs_p90", 0.9), ("abs_p99", 0.99)):
        assert metrics[name] == pytest.approx(np.quantile(error, share), rel=0.01)


def test_signed_and_unsigned_64_bits_do_not_meet_modulo():
    comparison, kinds = compared(np.array([-1, 5]), np.array([2**64 - 1, 5], np.uint64))
    assert kinds == ["dtype", "values"]
    assert comparison.metrics["max_abs"] == 2.0**64


def test_identical_bits_cost_no_figure():
    values = np.random.default_rng(0).standard_normal(3 * chunks.CHUNK, dtype=np.float32)
    comparison, kinds = compared(values, values.copy(), rtol=1e-5, atol=1e-5)
    assert kinds == []
    assert comparison.metrics["max_abs"] == comparison.metrics["abs_p99"] == comparison.metrics["budget_used"] == 0.0
    assert comparison.metrics["cosine"] == comparison.metrics["norm_ratio"] == 1.0
    assert comparison.ulp_histogram.counts[0] == sum(comparison.error_histogram.counts) == values.size


def test_arrays_are_left_as_they_were():
    expected = np.random.default_rng(0).standard_normal(3 * chunks.CHUNK, dtype=np.float32)
    actual = expected + np.float32(0.25)
    before = actual.copy(), expected.copy()
    actual.flags.writeable = expected.flags.writeable = False
    compared(actual, expected)
    assert np.array_equal(actual, before[0])
    assert np.array_equal(expected, before[1])


@pytest.mark.parametrize(("peak", "kinds"), [(1e-60, []), (1e-39, []), (1e-30, ["degenerate", "values"])])
def test_zeros_for_numbers_below_the_normal_ones_prove_nothing_and_are_no_fault(peak, kinds):
    """A product of two hundred factors below 1: float32 has no other answer."""
    expected = np.linspace(peak / 2, peak, 50)
    contract = Contract(tolerances={"*": Tolerance(rtol=0.0, atol=1e-38)})
    actual = np.zeros(50, np.float32)
    (comparison,), findings = compare_outputs(
        [{"o": actual}], [{"o": expected}], contract, expected_dtypes={"o": "float32"}
    )
    assert [finding.kind for finding in findings] == kinds
    assert "all zero in all 50 elements" in finding_text(comparison.degenerate)
    assert ("no normal number of float32" in finding_text(comparison.degenerate)) == (not kinds)


def test_numbers_below_the_normal_ones_that_are_right_are_no_collapse():
    expected = np.linspace(1e-40, 1e-39, 50).astype(np.float32)
    comparison, kinds = compared(expected.copy(), expected, atol=0.0)
    assert (comparison.degenerate, kinds) == (None, [])


def test_a_full_optional_has_the_type_of_its_contents():
    value = np.linspace(1.0, 2.0, 50, dtype=np.float32)
    (comparison,), findings = compare_outputs(
        [{"o": value}], [{"o": value}], Contract(precision="float32"), expected_dtypes={"o": "optional"}
    )
    assert (comparison.dtype, findings) == ("float32", ())
