"""Sequences, optionals and maps as named tensors, and back."""

from __future__ import annotations

import numpy as np
import pytest

from assay.core.case import Contract
from assay.models.flatten import flatten, gather
from assay.numerics.compare import compare_outputs

ONE, TWO = np.array([1.0, 2.0], np.float32), np.array([[3]], np.int64)


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (ONE, ["x"]),
        ([], ["x[]"]),
        ([ONE, TWO], ["x[]", "x[0]", "x[1]"]),
        ([[ONE], []], ["x[]", "x[0][]", "x[0][0]", "x[1][]"]),
        (None, ["x?"]),
        ({"b": 2.0, "a": 1.0}, ["x{keys}", "x{values}"]),
        ([{1: 0.5}], ["x[]{keys}", "x[]{values}"]),
    ],
)
def test_there_and_back(value: object, names: list[str]) -> None:
    flat = flatten("x", value)
    assert list(flat) == names
    again = flatten("x", gather("x", flat))
    assert list(again) == names
    assert all(np.array_equal(flat[name], again[name]) and flat[name].dtype == again[name].dtype for name in names)


def test_what_is_no_value_is_refused() -> None:
    with pytest.raises(TypeError, match="no tensor, sequence"):
        flatten("x", object())


@pytest.mark.parametrize("wrong", [[ONE], [ONE, ONE, ONE], None, [ONE, ONE + 1]])
def test_another_length_an_empty_optional_and_another_element_are_seen(wrong: object) -> None:
    expected, actual = flatten("x", [ONE, ONE]), flatten("x", wrong)
    _, findings = compare_outputs([actual], [expected], Contract(published=True))
    assert findings
    _, findings = compare_outputs([expected], [expected], Contract(published=True))
    assert not findings
