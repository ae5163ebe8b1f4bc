"""However a service sends, its answer takes no longer than it may, and a refusal is told."""

from __future__ import annotations

import time

import pytest

from assay.endpoints.connection import Connection
from assay.errors import EndpointBroke, EndpointFailed, UsageError
from scripted_server import answering, whole


@pytest.mark.parametrize("pieces", ["", "Transfer-Encoding: chunked\r\n"])
def test_an_answer_that_never_ends(pieces: str) -> None:
    """It sends all the time, so that no wait for the next byte is long."""
    said = b"1\r\n \r\n" if pieces else b" "
    with answering(f"HTTP/1.1 200 OK\r\n{pieces}\r\n".encode(), said) as port:
        service = Connection(f"http://127.0.0.1:{port}/v1", timeout_s=0.5)
        for ask in (lambda: service.get("/models"), lambda: [*service.stream("/completions", {}, 9)]):
            with pytest.raises(EndpointFailed) as error:
                ask()
            assert error.value.late
            assert "did not answer in 0.5 s" in str(error.value)


DRIPPING = {
    "a status line": (b"", b"H"),
    "another status each time": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a header": (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
    "a refusal of the busy": (b"HTTP/1.1 503 No\r\nContent-Length: 9999\r\n\r\n", b"x"),
}


@pytest.mark.parametrize("what", DRIPPING)
def test_bytes_that_drip_do_not_put_off_the_deadline(what: str) -> None:
    begun = time.monotonic()
    with answering(*DRIPPING[what]) as port, pytest.raises(EndpointFailed) as error:
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=0.5).get("/models")
    assert error.value.late
    assert "did not answer in 0.5 s" in str(error.value)
    assert time.monotonic() - begun < 30.0


def test_a_refusal_that_drips_is_told_as_far_as_it_came() -> None:
    content = b"HTTP/1.1 400 No\r\nContent-Length: 9999\r\n\r\ntoo long"
    with answering(content, b"!") as port, pytest.raises(UsageError, match=r"refuses .*: too long!"):
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=2.0).get("/models")


def test_a_busy_service_is_asked_again_within_the_deadline() -> None:
    begun = time.monotonic()
    content = b"HTTP/1.1 503 No\r\nRetry-After: 9\r\nContent-Length: 4\r\n\r\nfull"
    with answering(content) as port, pytest.raises(EndpointFailed, match=r"was busy once \(status 503: full\)"):
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=1.9).get("/models")
    assert time.monotonic() - begun < 1.9


@pytest.mark.parametrize("said", ["²", "-1", "nan", "Fri, 27 Nov 2026 12:00:00 GMT"])
def test_a_wait_that_is_no_number_is_a_moment(said: str) -> None:
    content = f"HTTP/1.1 503 No\r\nRetry-After: {said}\r\nContent-Length: 4\r\n\r\nfull".encode("latin-1")
    with answering(content) as port, pytest.raises(EndpointFailed, match="was busy"):
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=1.5).get("/models")


def test_a_refusal_in_many_pieces_is_read_to_its_end() -> None:
    said = b'{"error": {"message": "' + b"too long " * 20 + b'"}}'
    pieces = b"".join(b"1\r\n%c\r\n" % byte for byte in said) + b"0\r\n\r\n"
    content = b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n" + pieces
    with answering(content) as port, pytest.raises(UsageError, match=": too long too long") as error:
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=60.0).get("/models")
    assert "message" not in str(error.value)


def test_an_event_that_is_nested() -> None:
    content = whole("200 OK", b"data: " + b"[" * 100_000 + b"\n")
    with answering(content) as port, pytest.raises(EndpointBroke, match="which is not JSON"):
        [*Connection(f"http://127.0.0.1:{port}/v1", timeout_s=60.0).stream("/completions", {}, 9)]
