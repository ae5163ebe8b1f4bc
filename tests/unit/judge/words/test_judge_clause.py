"""Sentences inside of sentences."""

from __future__ import annotations

import pytest

from assay.judge.words.clause import as_clause


@pytest.mark.parametrize(
    ("sentence", "clause"), [("It is off.", "It is off"), ("at [0], at [1] ...", "at [0], at [1] ..."), ("", "")]
)
def test_a_full_stop_goes_and_dots_stay(sentence: str, clause: str) -> None:
    assert as_clause(sentence) == clause
