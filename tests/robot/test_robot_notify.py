"""Mail and chat, delivered to a real SMTP server and a real HTTP server; nothing is lost when they sleep."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator

import pytest
from live_server import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from submissions import failed, whole

from assay_zoo.robot.config_schema import MailTable, SecretPlace
from assay_zoo.robot.notify import Chat, Mailer, NotificationFailed

DECLINED = whole("decline", checks=failed(30), reasons=["artifacts.readme: <b>bad</b>\r\nBcc: victim@x.example"])


class Smtp(socketserver.ThreadingTCPServer):
    """As much of RFC 5321 as a client needs."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.taken: list[bytes] = []
        self.recipients: list[str] = []
        self.refuse = ""

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Session(socketserver.StreamRequestHandler):
    server: Smtp

    def handle(self) -> None:
        self.say("220 mail.example ESMTP")
        while line := self.rfile.readline().decode().strip():
            word = line.split(":")[0].split()[0].upper()
            if word == "QUIT":
                self.say("221 bye")
                return
            if word == "MAIL" and self.server.refuse:
                self.say(self.server.refuse)
            elif word == "AUTH":
                self.say("535 5.7.8 authentication failed for hunter2-password")
            elif word == "DATA":
                self.say("354 go on")
                data = b""
                while not data.endswith(b"\r\n.\r\n"):
                    data += self.rfile.readline()
                self.server.taken.append(data[:-5])
                self.say("250 taken")
            else:
                if word == "RCPT":
                    self.server.recipients.append(line.split("<")[1].rstrip(">"))
                self.say("250-mail.example\r\n250 AUTH PLAIN LOGIN" if word == "EHLO" else "250 ok")

    def say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@pytest.fixture
def smtp() -> Iterator[Smtp]:
    server = Smtp()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def table(port: int, **more: object) -> MailTable:
    values = {
        "host": "127.0.0.1",
        "port": port,
        "security": "none",
        "sender": "zoo@example.org",
        "to": ["a@x.org", "b@x.org"],
    }
    return MailTable.model_validate(values | more)


def test_a_mail_says_what_and_why(smtp: Smtp) -> None:
    Mailer(table(smtp.port)).send(DECLINED, "https://zoo.example/submissions/1")
    Mailer(table(smtp.port)).send(DECLINED, "https://zoo.example/submissions/1")
    assert smtp.recipients == ["a@x.org", "b@x.org"] * 2
    first, second = (email.message_from_bytes(data, policy=email.policy.default) for data in smtp.taken)
    assert first["subject"].strip() == "[zoo] digits: declined: artifacts.readme: <b>bad</b> Bcc: victim@x.example"
    assert first["bcc"] is None
    assert first["message-id"] == second["message-id"], "sent twice, it is one mail"
    text = first.get_content()
    assert "- artifacts.readme, failed: the readme lacks a section 0 (README.md)" in text
    assert "- and 10 more" in text
    assert text.rstrip().endswith("https://zoo.example/submissions/1")


def test_a_mail_that_is_not_taken_is_told_without_the_password(smtp: Smtp) -> None:
    smtp.refuse = "451 4.3.0 come back later"
    with pytest.raises(NotificationFailed, match=r"did not take the mail \(.*come back later"):
        Mailer(table(smtp.port)).send(DECLINED, "")
    account = table(smtp.port, user="zoo", password=SecretPlace(env="X"))
    with pytest.raises(NotificationFailed, match="did not take the mail") as error:
        Mailer(account, "hunter2-password").send(DECLINED, "")
    assert "hunter2" not in str(error.value)
    with pytest.raises(NotificationFailed, match="did not take the mail"):
        Mailer(table(smtp.port, security="starttls")).send(DECLINED, "")
    with pytest.raises(NotificationFailed, match="Connection refused"):
        Mailer(table(9)).send(DECLINED, "")
    assert smtp.taken == []


def test_a_chat_gets_no_markup_of_strangers() -> None:
    taken: list[str] = []
    answers = [200, 500]

    async def hook(request: Request) -> Response:
        taken.append((await request.json())["text"])
        return PlainTextResponse("ok", answers.pop(0))

    told = whole("decline", checks=failed(1, "<!channel> & <https://evil.example|click>"), reasons=["<!here>"])
    with serving(Starlette(routes=[Route("/services/T0/B0/SECRET", hook, methods=["POST"])])) as address:
        chat = Chat(f"{address}/services/T0/B0/SECRET")
        chat.send(told, "https://zoo.example/submissions/1")
        with pytest.raises(NotificationFailed, match="the chat answered 500"):
            chat.send(told, "")
    assert "&lt;!channel&gt; &amp; &lt;https://evil.example|click&gt;" in taken[0]
    assert taken[0].endswith("<https://zoo.example/submissions/1|all findings>")
    with pytest.raises(NotificationFailed, match="cannot be reached") as error:
        Chat("http://127.0.0.1:9/services/SECRET").send(told, "")
    assert "SECRET" not in str(error.value)
