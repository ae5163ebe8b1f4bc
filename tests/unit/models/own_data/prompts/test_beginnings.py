"""Numbers of what texts begin with."""

from __future__ import annotations

from assay.core.schedules import PADDED
from assay.models.own_data.prompts.beginnings import Beginnings


def test_equal_beginnings_have_one_number_and_others_another() -> None:
    texts = [(1, 2, 3), (1, 2, 4), (2, 1), (1,), (1, 2, 3, 3)]
    beginnings = Beginnings()
    numbers = [beginnings.of(text) for text in texts]
    seen = {text[: at + 1]: row[at] for text, row in zip(texts, numbers, strict=True) for at in range(len(text))}
    assert all(
        seen[text[: at + 1]] == row[at] for text, row in zip(texts, numbers, strict=True) for at in range(len(row))
    )
    assert len(set(seen.values())) == len(seen) == len(beginnings.lengths)
    assert {number: len(text) for text, number in seen.items()} == dict(enumerate(beginnings.lengths))
    assert Beginnings(texts).lengths == beginnings.lengths


def test_a_text_goes_on_and_padding_is_none() -> None:
    beginnings = Beginnings([(5, 6, 7)])
    assert beginnings.of([PADDED, 5, PADDED, 6], PADDED) == [PADDED, 0, PADDED, 1]
    assert beginnings.of([7], 1) == [2]


def test_what_was_met_is_known_and_nothing_is_added() -> None:
    beginnings = Beginnings([(5, 6, 7)])
    assert beginnings.known([5, 6, 8, 7]) == [0, 1]
    assert beginnings.known([6]) == []
    assert len(beginnings.lengths) == 3


def test_a_long_text_takes_a_step_for_each_token() -> None:
    """Of tuples of all that it begins with these would be 80 GB."""
    assert Beginnings([range(100_000)]).lengths[-1] == 100_000
