"""A real SMTP server and a real HTTP endpoint on the loopback, for as long as a test goes on."""

from __future__ import annotations

import email
import email.policy
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiosmtpd.controller import Controller


@dataclass
class MailServer:
    """`mails` are those that arrived."""

    port: int
    mails: list[EmailMessage] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"mailto://127.0.0.1:{self.port}/?from=assay@example.org&to=team@example.org&mode=insecure&name=Assay"

    async def handle_DATA(self, server: object, session: object, envelope: Any) -> str:
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        self.mails.append(message)
        return "250 ok"


@contextmanager
def mail_server() -> Iterator[MailServer]:
    made = MailServer(free_port())
    controller = Controller(made, hostname="127.0.0.1", port=made.port)
    controller.start()
    try:
        yield made
    finally:
        controller.stop()


@dataclass
class Endpoint:
    """`posts` are the JSON bodies that arrived, `paths` where anything did, `status` and `location` what is answered."""

    port: int = 0
    status: int = 200
    location: str = ""
    posts: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self.port}/hook/T0K3N-s3cr3t-9f"


@contextmanager
def endpoint() -> Iterator[Endpoint]:
    made = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.paths.append(self.path)
            if made.status == 200:
                made.posts.append(json.loads(body))
            self.send_response(made.status)
            if made.location:
                self.send_header("Location", made.location)
            self.end_headers()

        def do_GET(self) -> None:
            made.paths.append(self.path)
            self.send_response(made.status)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.port = int(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def free_port() -> int:
    """One on which nobody listens."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
