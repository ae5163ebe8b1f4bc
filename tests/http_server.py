"""A small HTTP server on the loopback, which answers as a test says."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    """`sent` is the body of a request. It is read before anything is answered: a connection that is closed with bytes unread is reset,
    and the answer may be lost."""

    sent = b""

    def parse_request(self) -> bool:
        parsed = super().parse_request()
        if parsed:
            self.sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return parsed

    def answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        """With its length; the names of `headers` have _ for -."""
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@contextmanager
def serving(handler: type[Handler]) -> Iterator[str]:
    """Its address, without a slash at the end."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
