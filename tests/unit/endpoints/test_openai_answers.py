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
    "a top without its log-probability": {"logprobs": {"content": [{"token": "a", "top_logprobs": [{"token": "a"}]}]}},
    "a token below 0": {"text": "a", "token_ids": [-5]},
    "a token that is a truth value": {"text": "a", "token_ids": [True]},
    "a long number in a text": {"text": "a", "logprobs": {"tokens": ["token_id:" + "9" * 30]}},
    "a longer number in a text": {"text": "a", "logprobs": {"tokens": ["token_id:" + "9" * 5000]}},
    "a number below 0 in a text": {"text": "a", "logprobs": {"tokens": ["token_id:-5"]}},
    "a log-probability without an end": {"logprobs": {"top_logprobs": [{"token_id:5": 10**400}]}},
    "a text that is a table": {"text": {"a": 1}},
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_completion_is_one_sentence(what: str) -> None:
    with pytest.raises(EndpointBroke, match="gave an answer that cannot be read") as error:
        _service(_Odd(ODD[what])).complete([1], 1)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("count", [[1], "many", -1, 10**30, 0.5])
@pytest.mark.parametrize("which", ["prompt_tokens", "completion_tokens"])
def test_a_count_that_is_none_is_one_sentence(which: str, count: Any) -> None:
    class Counting(_Connection):
        def post(self, path: str, body: dict[str, Any]) -> Any:
            return super().post(path, body) | {"usage": {which: count}}

    with pytest.raises(EndpointBroke, match=f"gave an answer that cannot be read .*{which}"):
        _service(Counting()).complete([1], 1)


@pytest.mark.parametrize("models", [{"data": [1]}, {"data": {}}, {"data": [{"id": 1}]}, [], None])
def test_a_list_of_models_that_is_none_is_one_sentence(models: Any) -> None:
    class Listing(_Connection):
        def get(self, path: str) -> Any:
            return models

    with pytest.raises(EndpointBroke, match="gave an answer that cannot be read"):
        _service(Listing())


def test_digits_of_other_scripts_are_no_number_of_a_token() -> None:
    assert Vocabulary("").number("token_id:²") is None
    assert Vocabulary("").number("token_id:7") == 7


def test_what_servers_leave_empty_is_read() -> None:
    """Null for what there is none of, and log-probabilities that are no number."""
    empty = {"text": None, "message": None, "delta": {"content": "a"}, "token_ids": None, "finish_reason": None}
    answer = _service(
        _Odd(empty | {"logprobs": {"tokens": ["token_id:5"], "top_logprobs": [None, {"token_id:5": None}]}})
    )
    completion = answer.complete([1], 1)
    assert (completion.text, completion.ids, completion.finish, completion.generated) == ("a", (5,), "", None)
    assert [*map(list, completion.tops)] == [[], [5]]


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
