"""Where an answer ends, however it is cut into pieces, and what ends none."""

from __future__ import annotations

import pytest

from assay.serving.framing import Framing

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = {
    "a length": OK + b"Content-Length: 5\r\n\r\nhello",
    "no body": OK + b"content-length: 0\r\n\r\n",
    "a status that has no body": b"HTTP/1.1 204 No Content\r\n\r\n",
    "chunks": CHUNKED + b"5\r\nhello\r\n0\r\n\r\n",
    "a chunk that looks like the end": CHUNKED + b"8\r\n: 10\r\n\r\n\r\n0\r\n\r\n",
    "a chunk that holds an end": CHUNKED + b"5\r\n0\r\n\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "lines behind the chunks": CHUNKED + b"1;name=value\r\na\r\n0\r\nX-Sum: 1\r\n\r\n",
    "chunks, whatever the length says": OK
    + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "interim answers before it": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    + OK
    + b"Content-Length: 5\r\n\r\nhello",
    "another header that ends in the name": OK + b"X-Content-Length: 9\r\nContent-Length: 1\r\n\r\na",
}


@pytest.mark.parametrize("what", WHOLE)
def test_it_ends_with_its_last_byte_and_not_before(what: str) -> None:
    answer = WHOLE[what]
    for cut in range(1, len(answer)):
        framing = Framing(1)
        assert not framing.take(answer[:cut]), cut
        assert framing.take(answer[cut:]), cut
        assert (framing.error, framing.keeps) == ("", True)


WRONG = {
    "a length that is no number": (OK + b"Content-Length: 1e3\r\n\r\n", "an answer whose length is no number"),
    "a length below 0": (OK + b"Content-Length: -1\r\n\r\n", "an answer whose length is no number"),
    "more than its length": (OK + b"Content-Length: 2\r\n\r\nabc", "it goes on behind its own end"),
    "more than its chunks": (CHUNKED + b"0\r\n\r\ndata", "it goes on behind its own end"),
    "a size that is no number": (CHUNKED + b"five\r\nhello", "a chunk whose size is no number"),
    "a size below 0": (CHUNKED + b"-1\r\nhello", "a chunk whose size is no number"),
    "a size without an end": (CHUNKED + b"1" * 70_000, "a chunk whose size is no number"),
    "a head without an end": (OK + b"X: y\r\n" * 12_000, "a head of more than 64 KiB"),
    "nothing but interim answers": (b"HTTP/1.1 100 Continue\r\n\r\n" * 17, "more than 16 interim answers"),
    "no end": (CHUNKED + b"ffffffff\r\n" + b"a" * 1_100_000, "an answer of more than 1 MiB"),
}


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("size", [1000, 2**16])
def test_what_ends_none(what: str, size: int) -> None:
    answer, error = WRONG[what]
    framing = Framing(1)
    assert any(framing.take(answer[at : at + size]) for at in range(0, len(answer), size))
    assert (framing.error, framing.keeps) == (error, False)


def test_more_tokens_may_be_a_longer_answer() -> None:
    framing = Framing(1000)
    assert not framing.take(WRONG["no end"][0])


def test_an_answer_without_a_length_ends_with_its_connection() -> None:
    for head in (OK, OK + b"Connection: close\r\n", b"HTTP/1.0 200 OK\r\n"):
        framing = Framing(1)
        assert not framing.take(head + b"\r\nhello")
        assert framing.closed()
    framing = Framing(1)
    framing.take(OK + b"Content-Length: 9\r\n\r\nhello")
    assert not framing.closed()


def test_a_connection_that_is_to_be_closed_serves_no_other() -> None:
    framing = Framing(1)
    assert framing.take(OK + b"Connection: close\r\nContent-Length: 1\r\n\r\na")
    assert (framing.error, framing.keeps) == ("", False)
