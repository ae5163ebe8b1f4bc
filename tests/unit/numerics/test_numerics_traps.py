"""Every silent pass that another comparator was caught at, failed here (and the one opposite trap, passed)."""

import numpy as np
import pytest

from assay.core.case import Contract, Tolerance
from assay.judge.words.finding_text import finding_text
from assay.numerics.compare import compare_outputs
from assay.numerics.structure import check_structure

LOOSE = Contract(tolerances={"*": Tolerance(rtol=1e-5, atol=1e-5)})


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def kinds(actual, expected, contract=LOOSE, **more) -> set[str]:
    _, findings = compare_outputs(actual, expected, contract, **more)
    return {finding.kind for finding in findings}


def test_an_identical_output_agrees():
    comparisons, findings = compare_outputs([{"o": noise(2, 3)}], [{"o": noise(2, 3)}], LOOSE)
    assert findings == ()
    assert comparisons[0].degenerate is None
    assert comparisons[0].metrics["budget_used"] == 0.0


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_a_lost_output_fails_in_either_order(order):
    both = {name: noise(3) for name in order}
    _, findings = compare_outputs([{"a": both["a"]}], [both], LOOSE)
    assert [(finding.kind, finding.output) for finding in findings] == [("missing_output", "b")]
    assert "'b'" in finding_text(findings[0])


def test_an_output_the_model_does_not_have_fails():
    assert kinds([{"a": noise(3), "b": noise(3)}], [{"a": noise(3)}]) == {"extra_output"}


def test_an_output_that_only_the_reference_lacks_or_has_is_not_the_engines_fault():
    model = {"a": "float32", "b": "float32"}
    both, single = {"a": noise(3), "b": noise(3)}, {"a": noise(3)}
    assert {finding.kind for finding in check_structure([both], [single], list(model), model)} == {"missing_reference"}
    assert {finding.kind for finding in check_structure([single], [both], ["a"], model)} == {"missing_reference"}


def test_how_many_parts_a_sequence_has_is_its_shape():
    two, single = {"s[0]": noise(3), "s[1]": noise(3)}, {"s[0]": noise(3)}
    assert {finding.kind for finding in check_structure([two], [single], list(single), {})} == {"shape"}
    assert {finding.kind for finding in check_structure([single], [two], list(two), {})} == {"shape"}


def test_fewer_samples_than_the_golden_fail():
    sample = {"o": noise(3)}
    assert kinds([sample], [sample] * 3) == {"samples"}
    assert kinds([sample] * 3, [sample]) == {"samples"}


def test_no_samples_at_all_fail():
    assert kinds([], []) == {"empty"}
    assert kinds([{}], [{}]) == {"empty"}


def test_a_renamed_output_fails():
    assert kinds([{"oo": noise(3)}], [{"o": noise(3)}]) == {"missing_output", "extra_output"}


def test_swapped_outputs_fail():
    a, b = noise(3), noise(3, seed=1)
    assert kinds([{"b": b, "a": a}], [{"a": a, "b": b}]) == {"output_order"}


@pytest.mark.parametrize(("ours", "theirs"), [("int8", "float32"), ("float64", "float32"), ("float32", "float64")])
def test_another_type_fails_though_the_values_agree(ours, theirs):
    values = np.arange(6.0)
    assert kinds([{"o": values.astype(ours)}], [{"o": values.astype(theirs)}]) == {"dtype"}


def test_a_float64_oracle_may_judge_a_declared_float32():
    oracle = np.random.default_rng(0).standard_normal(100)
    assert kinds([{"o": oracle.astype(np.float32)}], [{"o": oracle}], expected_dtypes={"o": "float32"}) == set()
    assert kinds([{"o": oracle}], [{"o": oracle}], expected_dtypes={"o": "float32"}) == {"dtype"}


def test_an_empty_output_beside_others_is_compared_by_type_and_shape():
    full, empty = noise(4, 3), noise(0, 3)
    comparisons, findings = compare_outputs([{"e": empty, "o": full}], [{"e": empty, "o": full}], LOOSE)
    assert findings == ()
    assert [comparison.degenerate for comparison in comparisons] == [None, None]
    assert comparisons[0].metrics["budget_used"] == 0.0
    for wrong in (noise(0, 2), noise(1, 3), empty.astype(np.float64)):
        _, findings = compare_outputs([{"e": wrong, "o": full}], [{"e": empty, "o": full}], LOOSE)
        assert [finding.output for finding in findings] == ["e"]


def test_a_model_of_which_every_output_is_empty_is_mistrusted():
    comparisons, findings = compare_outputs([{"o": noise(0, 3)}], [{"o": noise(0, 3)}], LOOSE)
    assert findings == ()
    assert "empty" in finding_text(comparisons[0].degenerate)
    assert comparisons[0].metrics == {}


def test_an_empty_output_for_a_full_reference_fails():
    assert kinds([{"o": noise(0, 3)}], [{"o": noise(2, 3)}]) == {"shape"}


@pytest.mark.parametrize(("ours", "theirs"), [((), (2, 3)), ((2, 3), ()), ((1, 3), (2, 3)), ((3, 2), (2, 3))])
def test_no_shape_is_broadcast_or_squeezed(ours, theirs):
    comparisons, findings = compare_outputs([{"o": np.ones(ours)}], [{"o": np.ones(theirs)}], LOOSE)
    assert [finding.kind for finding in findings] == ["shape"]
    assert comparisons[0].metrics == {}


def test_a_tenth_of_the_elements_wrong_fails_though_the_median_is_right():
    expected = noise(1000)
    actual = expected.copy()
    actual[::10] = 100.0
    (comparison,), findings = compare_outputs([{"o": actual}], [{"o": expected}], LOOSE)
    assert [finding.kind for finding in findings] == ["values"]
    assert comparison.metrics["abs_p50"] == 0.0
    assert comparison.metrics["share_out_of_tolerance"] == pytest.approx(0.1)


def test_twice_the_golden_fails_though_the_cosine_is_one():
    expected = noise(1000)
    (comparison,), findings = compare_outputs([{"o": 2 * expected}], [{"o": expected}], LOOSE)
    assert [finding.kind for finding in findings] == ["values"]
    assert comparison.metrics["cosine"] == pytest.approx(1.0)
    assert comparison.metrics["norm_ratio"] == pytest.approx(2.0)


def test_the_peak_of_psnr_is_the_references():
    expected = noise(1000)
    actual = expected.copy()
    actual[7] = 1e6
    (comparison,), findings = compare_outputs([{"o": actual}], [{"o": expected}], LOOSE)
    assert [finding.kind for finding in findings] == ["values"]
    assert comparison.metrics["psnr_db"] < -70.0


def test_an_output_collapsed_to_zeros_fails_and_says_so():
    (comparison,), findings = compare_outputs([{"o": np.zeros((16, 768), np.float32)}], [{"o": noise(16, 768)}], LOOSE)
    assert {finding.kind for finding in findings} == {"degenerate", "values"}
    assert "all zero" in finding_text(comparison.degenerate)


def test_a_collapsed_output_fails_even_where_the_tolerance_lets_zeros_pass():
    wide = Contract(tolerances={"*": Tolerance(rtol=0.0, atol=100.0)})
    assert kinds([{"o": np.zeros(100, np.float32)}], [{"o": noise(100)}], wide) == {"degenerate"}


def test_nearest_for_bilinear_on_a_smooth_image_fails():
    ramp = np.linspace(0.0, 1.0, 32 * 32, dtype=np.float32).reshape(32, 32)
    at = np.random.default_rng(0).uniform(0, 30, 500).astype(np.float32)
    low = at.astype(int)
    bilinear = ramp[5, low] + (at - low) * (ramp[5, low + 1] - ramp[5, low])
    bilinear, nearest = bilinear.astype(np.float32), ramp[5, np.rint(at).astype(int)]
    (comparison,), findings = compare_outputs([{"o": nearest}], [{"o": bilinear}], Contract())
    assert comparison.metrics["cosine"] > 0.9998
    assert [finding.kind for finding in findings] == ["values"]


def test_nan_at_the_same_place_on_both_sides_agrees():
    values = noise(10)
    values[3] = np.nan
    assert kinds([{"o": values}], [{"o": values.copy()}]) == set()


def test_nan_on_one_side_fails_with_its_place():
    expected = noise(2, 5)
    actual = expected.copy()
    actual[1, 3] = np.nan
    (comparison,), findings = compare_outputs([{"o": expected}, {"o": actual}], [{"o": expected}] * 2, LOOSE)
    assert [finding.kind for finding in findings] == ["nan"]
    assert "[1, 1, 3]" in finding_text(findings[0])
    assert comparison.metrics["budget_used"] == np.inf
    assert kinds([{"o": expected}], [{"o": actual}]) == {"nan"}


def test_an_infinity_agrees_only_with_the_infinity_of_its_sign():
    expected = noise(10)
    expected[2] = np.inf
    assert kinds([{"o": expected}], [{"o": expected.copy()}]) == set()
    for wrong in (-np.inf, 1.0, -np.finfo(np.float32).max):
        actual = expected.copy()
        actual[2] = wrong
        assert kinds([{"o": actual}], [{"o": expected}]) == {"infinity"}


@pytest.mark.parametrize("lowest", [np.finfo(np.float32).min, np.finfo(np.float16).min])
def test_lowest_for_minus_infinity_has_a_kind_of_its_own(lowest):
    expected, actual = noise(10), noise(10)
    expected[2], actual[2] = -np.inf, lowest
    assert kinds([{"o": actual}], [{"o": expected}]) == {"lowest_for_infinity"}
    assert kinds([{"o": expected}], [{"o": actual}]) == {"lowest_for_infinity"}


def test_a_reference_beyond_the_declared_type_agrees_with_infinity():
    oracle = np.array([1e39, 1.0, 2.0])
    actual = oracle.astype(np.float64)
    actual[0] = np.inf
    assert kinds([{"o": actual.astype(np.float32)}], [{"o": oracle}], expected_dtypes={"o": "float32"}) == set()


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (np.full(10, 3.0, np.float32), "constant"),
        (np.zeros(10, np.float32), "all zero"),
        (np.array([np.inf] * 6 + [1.0, 2.0], np.float32), "saturated"),
        (np.array([65504.0] * 6 + [1.0, 2.0], np.float16), "saturated"),
        (np.array([127] * 20 + [1, 2], np.int8), "saturated"),
        (np.full(3, np.nan, np.float32), "no finite"),
        (np.zeros(16, np.int8), "all zero"),
    ],
)
def test_a_poor_reference_is_mistrusted_without_a_finding(values, word):
    (comparison,), findings = compare_outputs([{"o": values}], [{"o": values.copy()}], Contract())
    assert findings == ()
    assert word in finding_text(comparison.degenerate)


def test_a_tolerance_as_large_as_the_signal_is_mistrusted():
    wide = Contract(tolerances={"o": Tolerance(rtol=0.0, atol=10.0)})
    (comparison,), findings = compare_outputs([{"o": noise(50)}], [{"o": noise(50)}], wide)
    assert findings == ()
    assert "zeros would pass" in finding_text(comparison.degenerate)


def test_one_scalar_or_a_few_equal_counts_are_no_collapse():
    for values in (np.float32(3.0), np.array([1, 1, 1])):
        (comparison,), findings = compare_outputs([{"o": values}], [{"o": values}], Contract())
        assert findings == ()
        assert comparison.degenerate is None
