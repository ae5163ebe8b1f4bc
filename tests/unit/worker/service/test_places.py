"""Answers that are missing, of no number, or out of the vocabulary are never passed over."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from assay.endpoints.openai import OpenAi, Vocabulary
from assay.judge.words.note_text import note_text
from assay.ports.prompts import Completion
from assay.worker.service.asking import GENERATED, alone, generated, repeated, together
from assay.worker.service.oracle import Oracle
from assay.worker.service.places import Place, budget, difference, judge_all, judged
from assay.worker.service.recorded_service import RecordedService, empty_answers, short_answers
from assay.worker.service.rules import chat_rules

SIZE = 8
LOGS = np.log(np.arange(1, SIZE + 1) / np.arange(1, SIZE + 1).sum())
BEST = SIZE - 1


class _Oracle(Oracle):
    """The same behind each text."""

    def learn(self, texts: Any) -> None:
        for text in texts:
            assert all(0 <= token < SIZE for token in text)
            self.keep(text, [LOGS] * len(text))  # type: ignore[arg-type]


def _oracle() -> Oracle:
    prompts = [(1, 2, 3, 4), (1, 2, 5, 6)]
    oracle = _Oracle(None, None, prompts, np.full(SIZE, 1e-6))  # type: ignore[arg-type]
    oracle.learn(prompts)
    return oracle


class _Service:
    """It answers with these tokens, and no log-probabilities."""

    def __init__(self, ids: tuple[int, ...] | None, finish: str, streamed: tuple[int, ...] | None = None) -> None:
        self._ids, self._finish, self._streamed = ids, finish, streamed

    def complete(self, prompt: Any, tokens: int, **how: Any) -> Completion:
        ids = self._streamed if how.get("stream") and self._streamed is not None else self._ids
        return Completion("", ids, (), self._finish, None, None if ids is None else len(ids))

    def chat(self, messages: Any, tokens: int) -> Completion:
        return self.complete((), tokens)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_beyond_every_limit(value: float) -> None:
    top = {BEST: float(LOGS[BEST]), 3: value, 2: float(LOGS[2])}
    place = judged(Place("alone", 0, (1, 2), top, BEST), _oracle(), 1)
    assert (place.used, place.token, max(place.errors)) == (math.inf, 3, math.inf)
    assert budget([place]) == math.inf
    assert difference([place]) is not None


@pytest.mark.parametrize(("size", "passes"), [(1e-7, True), (0.1, False)])
def test_log_probabilities_beside_a_token_that_is_not_among_them_are_judged(size: float, passes: bool) -> None:
    """Where tokens are named by their text, the one that was chosen may share its text with another."""
    top = {3: float(LOGS[3]) + size, 2: float(LOGS[2])}
    place = judged(Place("alone", 0, (1, 2), top, BEST), _oracle(), 1)
    assert (place.used <= 1.0) is passes
    assert judged(Place("alone", 0, (1, 2), top, 0), _oracle(), 1).used > 1.0


def test_null_is_no_number() -> None:
    class Connection:
        address = ""

        def get(self, path: str) -> Any:
            return {"data": [{"id": "tiny"}]}

        def post(self, path: str, body: Any) -> Any:
            row = {"tokens": ["token_id:1"], "top_logprobs": [{"token_id:1": None}]}
            return {"choices": [{"text": "a", "finish_reason": "length", "logprobs": row}]}

    (top,) = OpenAi(Connection(), "", Vocabulary("")).complete([1], 1).tops  # type: ignore[arg-type]
    assert math.isnan(top[1])


@pytest.mark.parametrize("way", [alone, together, generated])
def test_a_token_out_of_the_vocabulary_is_judged(way: Any) -> None:
    oracle = _oracle()
    finding = way(_Service((BEST, 999, 2), "length"), oracle)
    places = finding[0] if way is generated else finding
    if way is alone:
        assert {place.chosen for place in places} == {BEST}
        places = alone(_Service((999,), "length"), oracle)
    assert budget(judge_all(places, oracle)) == math.inf
    assert all(place.chosen in (BEST, 999) for place in places)


def test_streamed_and_stopped_tokens_are_judged() -> None:
    oracle = _oracle()
    service = RecordedService(_Service((BEST,) * GENERATED, "length", streamed=(BEST, 0)))
    service.complete((1, 2), GENERATED)
    service.complete((1, 2), GENERATED, stream=True)
    places = repeated(service.records, oracle)
    assert [place.chosen for place in places] == [BEST, 0] * 2
    assert budget(judge_all(places, oracle)) > 1


@pytest.mark.parametrize(
    ("ids", "finish", "rules", "empty"),
    [
        ((), "length", ["limit"], "8 of 8 answers were empty"),
        ((), "stop", [], "8 of 8 answers were empty"),
        (None, "length", ["limit"], "8 of 8 answers were empty"),
        ((BEST,), "length", [], ""),
    ],
)
def test_empty_answers_are_told(ids: Any, finish: str, rules: list[str], empty: str) -> None:
    service = RecordedService(_Service(ids, finish))
    for _ in range(8):
        service.complete((1, 2), 1)
    assert [answer.facts["rule"] for answer in short_answers(service.records)] == rules
    assert note_text(empty_answers(service.records)) == empty


def test_chat_is_judged_by_its_token_alone() -> None:
    class Engine:
        tokenizer = property(lambda self: self)
        ids = (1, 2)

        def encode(self, text: str, add_special_tokens: bool) -> Any:
            return self

        def chat_text(self, messages: Any) -> str:
            return ""

    oracle = _oracle()
    _, places = chat_rules(Engine(), _Service((0,), "length"), oracle)  # type: ignore[arg-type]
    assert budget(judge_all(places, oracle)) > 1
