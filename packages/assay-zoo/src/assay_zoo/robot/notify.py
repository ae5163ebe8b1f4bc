"""People are told of what needs them: by mail, and by a chat that takes Slack's incoming webhooks."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from assay.errors import HarnessError
from assay_zoo.check import CheckOutcome
from assay_zoo.robot import report
from assay_zoo.robot.config_schema import MailTable
from assay_zoo.robot.records import Whole
from assay_zoo.robot.sanitize import sanitize

_TIMEOUT_S = 30.0
_REASONS = 20


class NotificationFailed(HarnessError):
    """The message could not be delivered; no secret is in the text."""


class Mailer:
    """One message for each call. A message that is sent twice has the same Message-ID, so that it is shown once."""

    def __init__(self, table: MailTable, password: str = "") -> None:
        self._table, self._password = table, password

    def send(self, whole: Whole, page: str) -> None:
        """Raises NotTold."""
        message = self._message(whole, page)
        try:
            with self._connected() as server:
                if self._table.user:
                    server.login(self._table.user, self._password)
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            told = sanitize(str(error), 200).replace(self._password or "\0", "***")
            raise NotificationFailed(f"{self._table.host}:{self._table.port} did not take the mail ({told})") from None

    def _connected(self) -> smtplib.SMTP:
        table = self._table
        if table.security == "tls":
            return smtplib.SMTP_SSL(table.host, table.port, timeout=_TIMEOUT_S, context=ssl.create_default_context())
        server = smtplib.SMTP(table.host, table.port, timeout=_TIMEOUT_S)
        if table.security == "starttls":
            try:
                server.starttls(context=ssl.create_default_context())
            except BaseException:
                server.close()
                raise
        return server

    def _message(self, whole: Whole, page: str) -> EmailMessage:
        one = whole.submission
        message = EmailMessage()
        message["From"], message["To"] = self._table.sender, ", ".join(self._table.to)
        message["Subject"] = sanitize(f"[zoo] {one.name}: {report.line(whole)}", 150)
        message["Date"] = formatdate(localtime=False)
        domain = self._table.sender.rpartition("@")[2]
        message["Message-ID"] = f"<assay-{one.id}-{one.round}-{one.sha}@{domain}>" if one.id else make_msgid()
        message["Auto-Submitted"] = "auto-generated"
        message.set_content("\n".join(_text(whole, page)))
        return message


class Chat:
    """`url` is the secret address of an incoming webhook."""

    def __init__(self, url: str) -> None:
        self._url = url

    def send(self, whole: Whole, page: str) -> None:
        """Raises NotTold."""
        import httpx

        text = "\n".join(_slack(line) for line in _text(whole, ""))
        text += f"\n<{page}|all findings>" if page else ""
        try:
            answer = httpx.post(self._url, json={"text": text}, timeout=_TIMEOUT_S, follow_redirects=False)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NotificationFailed(f"the chat cannot be reached ({type(error).__name__})") from None
        if answer.status_code // 100 != 2:
            raise NotificationFailed(f"the chat answered {answer.status_code}")


def _text(whole: Whole, page: str) -> list[str]:
    one, decided = whole.submission, whole.decision
    lines = [f"{one.name}: {report.line(whole, 400)}", f"{sanitize(one.branch, 100)} at {one.sha[:12]}", ""]
    for check in decided.checks if decided else ():
        if check.outcome in (CheckOutcome.FAILED, CheckOutcome.INFRASTRUCTURE, CheckOutcome.UNDECIDED):
            where = f" ({sanitize(check.path, 100)})" if check.path else ""
            lines.append(f"- {check.name}, {check.outcome}: {sanitize(check.sentence, 300)}{where}")
    more = len(lines) - 3 - _REASONS
    return [*lines[: 3 + _REASONS], *([f"- and {more} more"] if more > 0 else []), "", *([page] if page else [])]


def _slack(line: str) -> str:
    """The three characters that Slack reads as markup of its own; mentions and links need them."""
    return line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
