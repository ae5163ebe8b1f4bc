"""Same answer in transcription: the same words, counted by the edits that make one text of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.task_metric_codes import TaskMetricCode
from assay.errors import UsageError
from assay.ports import Tensor, Tensors
from assay.task_metrics.task_options import check_classes, label, option, output_of

Token = tuple[int, ...]
"""A word: the tokens that spell it."""


def transcription(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    labels: Mapping[str, Tensor],
    options: Mapping[str, Option],
) -> dict[str, float]:
    """Metrics over all texts of output `output` ("logits").

    `decoding` "ctc" (the default): scores [batch, time, tokens], of which the best path is taken, repeats merged and `blank`
    (0) dropped (Graves et al. 2006, ICML); "tokens": token numbers [batch, time]. What is `padding` (-1) is no token. With a
    `separator`, the token between words, words are what is counted; without one each token is a word.

    word_agreement: 1 - word error rate of the actual texts against the expected; word_error_rate and token_error_rate against
    label `label` ("tokens", [texts, length]), with expected_word_error_rate beside them. An error rate is substitutions,
    deletions and insertions over the length of the truth (Levenshtein 1966), and may pass 1.
    """
    name, decoding = output_of(options, expected), option(options, "decoding", "ctc")
    blank, padding = _number(options, "blank", 0), _number(options, "padding", -1)
    separator = _number(options, "separator", None)
    assert padding is not None
    got, expected_rows = (
        list(_texts(samples, name, blank if decoding == "ctc" else None, padding)) for samples in (actual, expected)
    )
    figures = {"word_agreement": 1.0 - _rate(_words(got, separator), _words(expected_rows, separator))}
    told_by = option(options, "label", "tokens")
    truth = label(labels, told_by, len(got))
    if truth is not None:
        if decoding == "ctc":
            check_classes(truth[truth != padding], told_by, np.shape(expected[0][name])[-1])
        labelled = [tuple(int(token) for token in row if token != padding) for row in np.atleast_2d(truth)]
        figures["word_error_rate"] = _rate(_words(got, separator), _words(labelled, separator))
        figures["token_error_rate"] = _rate(_words(got, None), _words(labelled, None))
        figures["expected_word_error_rate"] = _rate(_words(expected_rows, separator), _words(labelled, separator))
    return figures


def _number(options: Mapping[str, Option], name: str, default: int | None) -> int | None:
    value = options.get(name, default)
    return None if value is None else int(value)


def _texts(samples: Sequence[Tensors], name: str, blank: int | None, padding: int) -> Iterator[Token]:
    """Each text as its tokens; texts of different samples may be of different lengths."""
    for sample in samples:
        if name not in sample:
            raise UsageError(noted(TaskMetricCode.NO_SUCH_OUTPUT, output=name, known=tuple(sample)))
        answer = np.asarray(sample[name])
        if answer.ndim != (2 if blank is None else 3):
            axes = ("batch", "time") if blank is None else ("batch", "time", "tokens")
            raise UsageError(noted(TaskMetricCode.NOT_DECODED, output=name, shape=answer.shape, axes=axes))
        for row in answer if blank is None else answer.argmax(axis=-1):
            path = row[np.insert(row[1:] != row[:-1], 0, True)] if blank is not None and len(row) else row
            yield tuple(int(token) for token in path if token not in (blank, padding))


def _words(texts: Sequence[Token], separator: int | None) -> list[list[Token]]:
    if separator is None:
        return [[(token,) for token in text] for text in texts]
    split_words = []
    for text in texts:
        words: list[list[int]] = [[]]
        for token in text:
            if token == separator:
                words.append([])
            else:
                words[-1].append(token)
        split_words.append([tuple(word) for word in words if word])
    return split_words


def _rate(actual: Sequence[Sequence[Token]], truth: Sequence[Sequence[Token]]) -> float:
    """NaN where nothing was said."""
    length = sum(map(len, truth))
    edits = sum(distance(text, other) for text, other in zip(actual, truth, strict=True))
    return edits / length if length else (0.0 if not edits else float("nan"))


def distance(first: Sequence[object], other: Sequence[object]) -> int:
    """The fewest substitutions, deletions and insertions that make `other` of `first` (Wagner and Fischer 1974, JACM 21)."""
    row = list(range(len(other) + 1))
    for at, mine in enumerate(first, start=1):
        diagonal, row[0] = row[0], at
        for place, theirs in enumerate(other, start=1):
            diagonal, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, diagonal + (mine != theirs))
    return row[-1]
