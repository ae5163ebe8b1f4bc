"""Outputs of text: a real number may be spelled in several ways, nothing else may."""

from __future__ import annotations

import numpy as np
import pytest

from assay.numerics.text_outputs import differences


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("1", "1.0"),
        ("-2", "-2."),
        ("100000", "1e+05"),
        ("0.71382344", "0.7138234376907349"),
        ("1.1754944e-38", "1.1754943508222875e-38"),
        ("0.8441453", "0.8441452980041504"),
        ("NaN", "NaN"),
        ("word", b"word"),
    ],
)
def test_a_number_may_be_spelled_in_several_ways(first: object, other: object) -> None:
    actual, expected = np.array([first], object), np.array([other], object)
    assert differences([actual], [expected]) == []
    assert differences([expected], [actual]) == []


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("1", "01"),
        ("1", "2.0"),
        ("0.71382344", "0.7138234976907349"),
        ("0.713823", "0.7138234376907349"),
        ("1", "1.0 "),
        ("1.0", "one"),
        ("inf", "1e9999"),
        ("1e99999999999999999999", "1.0"),
        ("\u0661", "1.0"),
        ("NaN", "nan"),
    ],
)
def test_other_texts_and_other_numbers_differ(first: str, other: str) -> None:
    actual, expected = np.array(["same", first], object), np.array(["same", other], object)
    assert differences([actual], [expected]) == [(1, other, first)]
