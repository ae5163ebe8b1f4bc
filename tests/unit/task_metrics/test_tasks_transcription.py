"""Error rates of transcription: by hand, by the definition, and against bad options."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.task_metrics.scoring import score
from assay.task_metrics.transcription import distance

WORDS = st.text("ab ", max_size=6)


@given(WORDS, WORDS)
def test_the_distance_is_that_of_the_definition(first: str, other: str) -> None:
    @cache
    def by_definition(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        last = by_definition(i - 1, j - 1) + (first[i - 1] != other[j - 1])
        return min(by_definition(i - 1, j) + 1, by_definition(i, j - 1) + 1, last)

    assert distance(first, other) == by_definition(len(first), len(other)) == distance(other, first)


def path(*tokens: int) -> np.ndarray:
    """Scores whose best path is this."""
    return np.eye(6, dtype=np.float32)[list(tokens)][None]


def test_a_best_path_is_collapsed_and_counted_in_words() -> None:
    """1 1 0 1 2 5 3 reads "1 1 2 | 3" with 5 between words; the truth is "1 2 | 3 3"."""
    said = [{"logits": path(1, 1, 0, 1, 2, 5, 3)}, {"logits": path(4, 0, 0)}]
    truth = {"tokens": np.array([[1, 2, 5, 3, 3], [4, -1, -1, -1, -1]])}
    figures = score("transcription", said, said, truth, {"separator": 5})
    assert figures["word_agreement"] == 1.0
    assert figures["word_error_rate"] == figures["expected_word_error_rate"] == pytest.approx(2 / 3)
    assert figures["token_error_rate"] == pytest.approx(2 / 6), "one 1 too many, one 3 too few"


def test_tokens_are_words_where_nothing_parts_them() -> None:
    said, wanted = [{"ids": np.array([[1, 2, 3, -1]])}], [{"ids": np.array([[1, 9, 3, 4]])}]
    figures = score("transcription", said, wanted, {}, {"output": "ids", "decoding": "tokens"})
    assert figures == {"word_agreement": 0.5}


def test_silence() -> None:
    said, nothing = [{"logits": path(1, 0)}], {"tokens": np.full((1, 2), -1)}
    assert np.isnan(score("transcription", said, said, nothing, {})["word_error_rate"])
    silent = [{"logits": path(0, 0)}]
    assert score("transcription", silent, silent, nothing, {})["word_error_rate"] == 0.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"decoding": "beam"}, "'decoding' of task 'transcription' must be ctc or tokens, not 'beam'"),
        ({"decoding": "tokens"}, r"has shape \[1, 2, 6\], and its decoding reads \[batch, time\]"),
        ({"output": "text"}, "need output 'text', the model has logits"),
        ({"separator": "|"}, "'separator' of task 'transcription' must be the number of a token, not '|'"),
    ],
)
def test_what_cannot_be_counted_is_told(options: dict[str, str], says: str) -> None:
    said = [{"logits": path(1, 0)}]
    with pytest.raises(UsageError, match=says.replace("|", r"\|")):
        score("transcription", said, said, {}, options)
