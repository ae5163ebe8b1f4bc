"""Which types are compared, how exactly, and what each is allowed."""

import ml_dtypes
import numpy as np
import pytest

from assay.core.case import Contract, Tolerance
from assay.core.dtype import UNIT_ROUNDOFF, numpy_dtype
from assay.errors import UsageError
from assay.judge.words.finding_text import finding_text
from assay.numerics.compare import compare_outputs
from assay.numerics.compare_output import reference_of
from assay.numerics.tolerance.default import default_tolerance, limits

FLOATS = [name for name in UNIT_ROUNDOFF if name != "tf32"]


def compared(actual, expected, contract=Contract(), **more):
    comparisons, findings = compare_outputs([{"o": actual}], [{"o": expected}], contract, **more)
    return comparisons[0], [finding.kind for finding in findings]


@pytest.mark.parametrize("name", FLOATS)
def test_every_floating_type_counts_its_neighbours(name):
    grid = np.array([0.5, 1.0, 1.5, 2.0, 3.0]).astype(numpy_dtype(name))
    step = np.array(1, f"u{grid.itemsize}")
    neighbours = (grid.view(f"u{grid.itemsize}") + step).view(grid.dtype)
    same, kinds = compared(grid, grid.copy())
    assert kinds == []
    assert same.ulp_histogram.counts[0] == 5
    moved, _ = compared(neighbours, grid)
    assert moved.ulp_histogram.counts[1] == 5
    assert moved.metrics["max_abs"] > 0
    assert moved.dtype == name


@pytest.mark.parametrize("name", FLOATS)
def test_plus_and_minus_zero_are_the_same(name):
    zeros = np.array([0.0, 0.0, 1.0]).astype(numpy_dtype(name))
    comparison, kinds = compared(-zeros * np.array([1, 1, -1]).astype(zeros.dtype), zeros)
    assert kinds == []
    assert comparison.metrics["max_abs"] == 0.0
    assert comparison.ulp_histogram.counts[0] == 3


@pytest.mark.parametrize(
    "name", ["int8", "uint8", "int16", "int32", "int64", "uint64", "bool", "int4", "uint4", "int2", "uint2"]
)
def test_whole_numbers_are_exact(name):
    values = np.array([0, 1] * 10).astype(numpy_dtype(name))
    wrong = values.copy()
    wrong[3] = 0
    assert compared(values, values.copy())[1] == []
    comparison, kinds = compared(wrong, values)
    assert kinds == ["values"]
    assert comparison.metrics["max_abs"] == 1.0
    assert comparison.metrics["budget_used"] == np.inf
    assert comparison.worst[0].index == (0, 3)
    assert comparison.ulp_histogram is None


@pytest.mark.parametrize("name", ["int64", "uint64"])
def test_a_large_integer_off_by_one_is_seen(name):
    expected = np.array([np.iinfo(name).max - 1, np.iinfo(name).min, 5], name)
    actual = expected + np.array([1, 0, 0], name)
    comparison, kinds = compared(actual, expected)
    assert kinds == ["values"]
    assert comparison.metrics["max_abs"] == 1.0


def test_the_widest_difference_of_int64_does_not_wrap():
    comparison, _ = compared(np.array([2**63 - 1, 0]), np.array([-(2**63), 0]))
    assert comparison.metrics["max_abs"] == 2.0**64


def test_integers_are_loosened_by_name_only():
    off, right = np.array([1, 2, 3], np.int8), np.array([1, 2, 4], np.int8)
    by_star = Contract(tolerances={"*": Tolerance(rtol=0.0, atol=1.0)})
    by_name = Contract(tolerances={"o": Tolerance(rtol=0.0, atol=1.0)})
    assert compared(off, right, by_star)[1] == ["values"]
    assert compared(off, right, by_name)[1] == []


def test_text_is_equal_or_not():
    expected = np.array(["cat", "dog", "größe"], dtype=object)
    assert compared(np.array(["cat", "dog", "größe"]), expected)[1] == []
    assert compared(np.array([word.encode() for word in expected]), expected)[1] == []
    comparison, kinds = compared(np.array(["cat", "hog", "größe"]), expected)
    assert kinds == ["values"]
    assert "expected 'dog', got 'hog'" in finding_text(comparison.findings[0])
    assert comparison.metrics["share_out_of_tolerance"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers_are_compared_by_their_parts(name):
    expected = np.array([[1 + 2j, 3 - 4j]], name)
    actual = expected.copy()
    actual[0, 1] += 0.5j
    assert compared(expected, expected.copy())[1] == []
    comparison, kinds = compared(actual, expected)
    assert kinds == ["values"]
    assert comparison.worst[0].index == (0, 0, 1, 1)
    assert (comparison.worst[0].expected, comparison.worst[0].actual) == (-4.0, -3.5)


def test_complex_numbers_that_came_as_pairs_are_refused_and_it_is_said_why():
    expected = np.array([1 + 2j, 3 - 4j], np.complex64)
    pairs = np.array([[1, 2], [3, -4]], np.float32)
    _, findings = compare_outputs([{"o": pairs}], [{"o": expected}], Contract())
    assert [finding.kind for finding in findings] == ["dtype", "shape"]
    assert "pairs of real ones" in finding_text(findings[0])


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_numbers_have_the_tolerance_and_the_classes_of_their_parts(name):
    unit = {"complex64": 2.0**-24, "complex128": 2.0**-53}[name]
    expected = np.array([1 + 1j, 2 - 3j, complex(np.inf, 1), complex(1, np.nan)], name)
    contract = Contract(precision="float32" if name == "complex64" else "float64")
    for factor, kinds in ((1 + 100 * unit, []), (1 + 5000 * unit, ["values"])):
        actual = expected.copy()
        actual[:2] *= factor
        _, findings = compare_outputs([{"o": actual}], [{"o": expected}], contract)
        assert [finding.kind for finding in findings] == kinds
    for place, value, kind in ((2, 5 + 1j, "infinity"), (3, 1 + 1j, "nan"), (3, complex(np.nan, np.nan), "nan")):
        actual = expected.copy()
        actual[place] = value
        _, findings = compare_outputs([{"o": actual}], [{"o": expected}], contract)
        assert kind in [finding.kind for finding in findings]


@pytest.mark.parametrize("values", [np.array(["2026-01-01"], "M8[D]"), np.zeros(2, "i4,f4")])
def test_what_cannot_be_compared_is_refused(values):
    assert compared(values, values)[1] == ["unsupported_dtype"]


def test_numbers_against_text_are_refused():
    assert compared(np.array(["1"]), np.array([1.0]))[1] == ["dtype", "unsupported_dtype"]


def test_bfloat16_infinity_and_nan_are_classes():
    values = np.array([1, np.inf, np.nan, 2], ml_dtypes.bfloat16)
    assert compared(values, values.copy())[1] == []
    assert compared(np.array([1, 3, 0, 2], ml_dtypes.bfloat16), values)[1] == ["nan", "infinity"]


def test_the_default_is_a_multiple_of_the_coarser_roundoff():
    assert default_tolerance("float32", "float32", 2.0) == (512 * 2.0**-24, 1024 * 2.0**-24)
    assert default_tolerance("float16", "float32", 1.0) == (64 * 2.0**-11,) * 2
    assert default_tolerance("float32", "bfloat16", 1.0) == (16 * 2.0**-8,) * 2
    assert default_tolerance("float32", "float64", 1.0)[0] == 512 * 2.0**-24
    assert default_tolerance("float8_e4m3fn", "float32", 1.0)[0] == 4 * 2.0**-4
    assert default_tolerance("float32", "int64", 1.0) == (0.0, 0.0)


def test_the_default_kills_a_tf32_multiplication_and_spares_float32():
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((64, 256)), rng.standard_normal((256, 64))
    a, b = a.astype(np.float32), b.astype(np.float32)
    oracle = a.astype(np.float64) @ b.astype(np.float64)
    coarse = [(x.view(np.int32) + 0x1000 & ~0x1FFF).view(np.float32) for x in (a, b)]
    assert compared(a @ b, oracle, expected_dtypes={"o": "float32"})[1] == []
    assert compared(coarse[0] @ coarse[1], oracle, expected_dtypes={"o": "float32"})[1] == ["values"]


def test_a_limit_left_open_is_the_defaults():
    contract = Contract(tolerances={"o": Tolerance(atol=0.25), "*": Tolerance(rtol=0.5, atol=0.5)})
    assert limits(contract, "o", "float32", 1.0) == (512 * 2.0**-24, 0.25)
    assert limits(contract, "p", "float32", 1.0) == (0.5, 0.5)


def test_an_unknown_precision_is_refused():
    with pytest.raises(UsageError, match="'float31'"):
        default_tolerance("float31", "float32", 1.0)


def test_no_allowance_means_bitwise_up_to_the_sign_of_zero():
    exact = Contract(tolerances={"*": Tolerance(rtol=0.0, atol=0.0)})
    values = np.array([0.0, 1.0, 2.0], np.float32)
    assert compared(np.array([-0.0, 1.0, 2.0], np.float32), values, exact)[1] == []
    assert compared(np.nextafter(values, np.float32(9)), values, exact)[1] == ["values"]


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1.0, 1e200, 1e308])
def test_extreme_float64_is_judged_like_any_other(scale):
    expected = np.random.default_rng(0).uniform(0.5, 1.5, 100) * scale
    assert compared(expected.copy(), expected)[1] == []
    comparison, kinds = compared(expected * (1 + 1e-3), expected)
    assert kinds == ["values"]
    assert comparison.metrics["rel_l2"] == pytest.approx(1e-3, rel=1e-9)
    assert comparison.metrics["sqnr_db"] == pytest.approx(60.0)
    assert reference_of([expected]).rms == pytest.approx(np.sqrt(np.mean((expected / scale) ** 2)) * scale)


def test_a_scalar_has_an_index_of_its_sample_only():
    comparison, kinds = compared(np.float32(1.0), np.float32(2.0))
    assert kinds == ["values"]
    assert comparison.worst[0].index == (0,)


def test_complex_numbers_where_real_ones_are_expected_are_refused():
    real = np.array([1.0, 2.0], np.float32)
    for actual, expected in ((real.astype(np.complex64), real), (real, real.astype(np.complex64))):
        (comparison,), findings = compare_outputs([{"y": actual}], [{"y": expected}], Contract())
        kinds = {finding.kind for finding in (*findings, *comparison.findings)}
        assert kinds == {"dtype", "unsupported_dtype"}
        assert "(complex64, float32)" in finding_text(comparison.findings[-1])
