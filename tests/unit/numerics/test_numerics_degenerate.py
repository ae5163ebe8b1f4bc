"""References that prove nothing."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.finding import FindingCode
from assay.judge.words.finding_text import finding_text
from assay.numerics.degenerate import STILL, degenerate_reference, same_numbers
from assay.numerics.reference_stats import ReferenceStats

NAN, INF = np.nan, np.inf


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ([0.0, NAN, 0.0], FindingCode.REFERENCE_CONSTANT_OR_NAN),
        ([0.0, 0.0, 0.0], FindingCode.REFERENCE_CONSTANT),
        ([0.0, NAN, 1.0], None),
        ([0.0, -INF, 0.0], None),
        ([0.0, -INF, NAN], None),
    ],
)
def test_one_number_beside_nan_proves_nothing_and_a_mask_does(values: list[float], code: FindingCode | None) -> None:
    array = np.array(values, np.float32)
    numbers = array[np.isfinite(array)]
    stats = ReferenceStats(array.size, numbers.size, float(numbers.min()), float(numbers.max()))
    degenerate = degenerate_reference("y", stats, [array], "float32")
    assert (degenerate.code if degenerate is not None else None) is code
    if code is FindingCode.REFERENCE_CONSTANT_OR_NAN:
        assert "all zero in 2 of 3 elements, and NaN in the others" in finding_text(degenerate)


@pytest.mark.parametrize(
    ("samples", "proves_nothing"),
    [
        ([[0.0, 1.0]] * 4, True),
        ([[1e-20 * place, 1.0] for place in range(4)], True),
        ([[1e-4 * place, 1.0] for place in range(4)], False),
        ([[0.0, 1.0]], False),
        ([[0.0, 1.0], [1.0, 0.0]], False),
        ([[0.0, 1.0, 0.5]] * 4, False),
        ([[-3.4e38, 0.5 * place, 1.0] for place in range(4)], False),
    ],
)
def test_a_class_that_is_certain_in_every_sample_proves_nothing(
    samples: list[list[float]], proves_nothing: bool
) -> None:
    arrays = [np.array(sample, np.float32) for sample in samples]
    stats = ReferenceStats(sum(array.size for array in arrays), sum(array.size for array in arrays), 0.0, 1.0)
    degenerate = degenerate_reference("y", stats, arrays, "float32")
    assert (degenerate is not None) is proves_nothing
    if degenerate is not None:
        assert finding_text(degenerate) == "the reference gives all 4 samples the same answer, of two different numbers"


def test_one_number_in_all_samples_is_called_constant_where_the_type_has_no_more() -> None:
    arrays = [np.array([1.0 + 1e-8 * place]) for place in range(4)]
    stats = ReferenceStats(4, 4, 1.0, 1.0 + 3e-8)
    degenerate = degenerate_reference("y", stats, arrays, "float32")
    assert degenerate is not None
    assert degenerate.code is FindingCode.REFERENCE_CONSTANT
    assert degenerate_reference("y", stats, arrays, "float64") is None


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ([INF, 1.0], [INF, 1.0], True),
        ([INF, 1.0], [-INF, 1.0], False),
        ([NAN, 1.0], [NAN, 1.0], True),
        ([NAN, 1.0], [INF, 1.0], False),
        ([-1e9, 0.5], [-1e9, 0.75], False),
        ([-1e9, 0.0], [-1e9, 1e-20], True),
        ([3e7, 0.0], [3e7 + 1, 0.0], True),
        ([1e-12, 0.0], [2e-12, 0.0], False),
    ],
)
def test_numbers_are_the_same_beside_those_that_differ(first: list[float], second: list[float], same: bool) -> None:
    assert same_numbers(np.array(first), np.array(second), STILL) is same
