"""An answer under load that is none is counted as one that failed, however odd it is."""

from __future__ import annotations

import pytest

from assay.serving.load_answers import Answer, answers_of
from assay.serving.load_generator import Load, Sent
from scripted_server import whole

ODD = {
    "no JSON": b"hello",
    "nested": b"[" * 100_000,
    "a list": b"[1]",
    "choices that are numbers": b'{"choices": [1]}',
    "choices that are a table": b'{"choices": {"a": 1}}',
    "a piece that is a number": b'{"choices": [{"delta": 3}]}',
    "a text that is a list": b'{"choices": [{"text": [1]}]}',
    "an endless count": b'{"choices": [], "usage": {"completion_tokens": 1e999}}',
    "a count below 0": b'{"choices": [], "usage": {"completion_tokens": -5}}',
}


def _answer(content: bytes) -> Answer:
    (answer,) = answers_of(Load([Sent(0.0, 0.0, [(0.5, content)], 0.5)], 0.0, 1.0))
    return answer


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_answer_is_an_error(what: str) -> None:
    assert _answer(whole("200 OK", ODD[what])).error == "error: its answer cannot be read"


@pytest.mark.parametrize("what", ODD)
def test_an_event_that_is_none_is_an_error(what: str) -> None:
    stream = b'data: {"choices": [{"text": "a"}]}\n\ndata: %s\n\ndata: [DONE]\n\n' % ODD[what]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    assert _answer(head + stream).error == "error: its answer cannot be read"


def test_an_event_of_nothing_is_none() -> None:
    stream = b'data: {"choices": [{"text": "a"}]}\n\ndata:\n\ndata: [DONE]\n\n'
    answer = _answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + stream)
    assert (answer.error, answer.text) == ("", "a")


@pytest.mark.parametrize(
    "interim", [b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 2]
)
def test_an_interim_answer_is_not_the_answer(interim: bytes) -> None:
    answer = _answer(interim + whole("200 OK", b'{"choices": [{"text": "a"}]}'))
    assert (answer.error, answer.text) == ("", "a")
    assert _answer(interim + whole("404 Not Found", b"{}")).error == "status 404"
