"""Answers of servers that go beyond OpenAI's protocol, and what is asked of them."""

from __future__ import annotations

from typing import Any

import pytest

from assay.endpoints.openai import OpenAi, Vocabulary
from assay.errors import EndpointBroke


class _Connection:
    """It answers as llama.cpp's server does: the number of a token stands beside its text, which two tokens may share."""

    address = ""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def get(self, path: str) -> Any:
        return {"data": [{"id": "tiny"}]}

    def post(self, path: str, body: dict[str, Any]) -> Any:
        self.asked.append(body)
        tops = [{"id": 7, "token": "a", "logprob": -0.5}, {"id": 8, "token": "a", "logprob": -1.0}]
        row = {"content": [{"id": 7, "token": "a", "logprob": -0.5, "top_logprobs": tops}]}
        return {"choices": [{"text": "a", "finish_reason": "length", "logprobs": row}]}


class _Odd(_Connection):
    """One choice, which is this."""

    def __init__(self, choice: Any) -> None:
        super().__init__()
        self._choice = choice

    def post(self, path: str, body: dict[str, Any]) -> Any:
        return {"choices": [self._choice]}


ODD = {
    "nothing": None,
    "a text": "hello",
    "token numbers that are texts": {"text": "a", "token_ids": ["x"]},
    "token numbers that are a number": {"text": "a", "token_ids": 7},
    "a token number without an end": {"text": "a", "token_ids": [10**30]},
    "an endless token number": {"text": "a", "token_ids": [float("inf")]},
    "a log-probability that is a text": {"text": "a", "logprobs": {"top_logprobs": [{"token_id:5": "high"}]}},
    "log-probabilities that are a number": {"text": "a", "logprobs": 3},
    "tops that are a list": {"text": "a", "logprobs": {"top_logprobs": [[1, 2]]}},
    "a message that is a text": {"message": "hello"},
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_completion_is_one_sentence(what: str) -> None:
    with pytest.raises(EndpointBroke, match="gave a completion that cannot be read") as error:
        _service(_Odd(ODD[what])).complete([1], 1)
    assert "\n" not in str(error.value)


def _service(connection: _Connection) -> OpenAi:
    return OpenAi(connection, "", Vocabulary(""))  # type: ignore[arg-type]


def test_numbers_that_stand_beside_the_text_of_tokens_are_read() -> None:
    answer = _service(_Connection()).complete([1], 1)
    assert answer.ids == (7,)
    assert answer.tops == ({7: -0.5, 8: -1.0},)


def test_draws_are_asked_for_from_the_whole_distribution() -> None:
    """llama.cpp's server cuts it to 40 tokens, 0.95 and 0.05 unasked."""
    connection = _Connection()
    service = _service(connection)
    service.complete([1], 1, temperature=1.0, seed=3)
    service.complete([1], 1)
    drawn, best = connection.asked
    assert (drawn["top_p"], drawn["top_k"], drawn["min_p"], drawn["seed"]) == (1.0, 0, 0.0, 3)
    assert not {"top_p", "top_k", "min_p"} & best.keys()
