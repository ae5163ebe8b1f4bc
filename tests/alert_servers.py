"""A real SMTP server and a real HTTP endpoint on the loopback, for as long as a test goes on."""

from __future__ import annotations

import email
import email.policy
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from free_port import free_port
from http_server import Handler, serving


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

    class Receiving(Handler):
        def do_POST(self) -> None:
            made.paths.append(self.path)
            if made.status == 200:
                made.posts.append(json.loads(self.sent))
            self.answer(made.status, b"", **({"Location": made.location} if made.location else {}))

        def do_GET(self) -> None:
            made.paths.append(self.path)
            self.answer(made.status)

    with serving(Receiving) as address:
        made.port = int(address.rpartition(":")[2])
        yield made
