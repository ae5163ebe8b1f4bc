"""What lies at an address comes within the limit, or not at all; a key goes to nobody else."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.connection import Connection
from assay.endpoints.fetch import fetched
from assay.endpoints.host_lookup import looked_up
from assay.errors import EndpointFailed
from scripted_server import answering, whole

KEY = "sk-a-secret-word"


@contextmanager
def _redirecting(seen: list[str]) -> Iterator[str]:
    """Any path but /health leads there, /round to itself."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('Authorization', '')}".strip())
            self.send_response(200 if self.path == "/health" else 307)
            if self.path != "/health":
                self.send_header("Location", "/round" if self.path == "/round" else "/health")
            self.end_headers()

        def log_message(self, *said: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_status_and_no_more_bytes_than_asked_for() -> None:
    with answering(whole("200 OK", b"hello")) as port:
        assert fetched(f"http://127.0.0.1:{port}/health", 5.0, 2) == (200, b"he")


def test_a_key_goes_to_the_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ENDPOINT_KEY", KEY)
    seen: list[str] = []
    with _redirecting(seen) as address:
        assert fetched(f"{address}/first", 5.0)[0] == 200
        assert seen == [f"/first Bearer {KEY}", "/health"]
        with pytest.raises(OSError, match="redirects more than 3 times"):
            fetched(f"{address}/round", 5.0)


@pytest.mark.parametrize("content", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"])
def test_a_byte_now_and_then_does_not_lengthen_it(content: bytes) -> None:
    began = time.monotonic()
    with answering(content, then=b"a") as port, pytest.raises(TimeoutError):
        fetched(f"http://127.0.0.1:{port}/health", 0.3, 99)
    assert time.monotonic() - began < 5.0


def test_a_name_is_looked_up_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *asked, **settings: over.wait(20.0))
    began = time.monotonic()
    with pytest.raises(TimeoutError, match=r"the name service\.test is looked up for longer than 0\.2 s"):
        looked_up("service.test", 80, 0.2)
    with pytest.raises(EndpointFailed, match=r"did not answer in 0\.2 s") as caught:
        Connection("http://service.test/v1", timeout_s=0.2).get("/models")
    over.set()
    assert caught.value.late
    assert time.monotonic() - began < 5.0


@pytest.mark.parametrize("name", ["a..b", "x" * 70 + ".test"])
def test_what_is_no_name_is_told_as_one_that_nobody_knows(name: str) -> None:
    with pytest.raises(OSError, match="is no name of a host"):
        looked_up(name, 80, 5.0)


def test_it_is_a_code_that_a_worker_can_hand_on() -> None:
    with pytest.raises(EndpointFailed, match=r"nothing answers at .* \('a\.\.b' is no name of a host\)") as caught:
        Connection("http://a..b/v1", timeout_s=5.0).get("/models")
    assert caught.value.note is not None
    assert caught.value.note.facts["error"] == noted(EndpointCode.NO_HOST_NAME, host="a..b")
