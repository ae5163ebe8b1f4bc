"""What an operator may change: alerts are muted and unmuted. Each change is written down before it is made."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from assay.commands.alerts import mute_alert, unmute_alert
from assay.errors import HarnessError, UsageError
from assay.web.sign_in import Forbidden, SignIn

AUDIT = "serve-audit.jsonl"
LONGEST_FORM = 8192
MOST_FIELDS = 20
LONGEST_REASON = 500


class Audited(msgspec.Struct, frozen=True):
    """One line of the audit trail, which is only ever appended to."""

    at: str
    who: str
    action: str
    about: str
    reason: str
    until: str = ""


@dataclass(frozen=True)
class Actions:
    """`history` is as --history says it; the trail lies in `folder`."""

    history: str
    folder: Path
    sign_in: SignIn

    def routes(self) -> list[Route]:
        return [
            Route("/alerts/mute", self._form(self._mute), methods=["POST"]),
            Route("/alerts/unmute", self._form(self._unmute), methods=["POST"]),
        ]

    def _form(self, act: Callable[[str, Mapping[str, str]], None]) -> Callable[[Request], object]:
        async def handler(request: Request) -> Response:
            who = str(request.state.user)
            _demand_same_site(request)
            self.sign_in.demand_operator(who)
            form = await _read_form(request)
            self.sign_in.demand_form(who, form.get("token", ""))
            await run_in_threadpool(act, who, form)
            return RedirectResponse("/alerts", status_code=303)

        return handler

    def _mute(self, who: str, form: Mapping[str, str]) -> None:
        days, reason = form.get("days", ""), form.get("reason", "").strip()
        if not days.isdigit() or not 1 <= int(days[:4]) <= 365 or len(days) > 3:
            raise UsageError(f"days is {days[:20]!r}; it is a whole number from 1 to 365")
        if not reason or len(reason) > LONGEST_REASON:
            raise UsageError(f"a mute needs a reason of at most {LONGEST_REASON} characters")
        until = datetime.now(UTC) + timedelta(days=int(days))
        self._write(who, "mute", form.get("id", ""), reason, until.isoformat(timespec="seconds"))
        mute_alert(form.get("id", ""), until, reason, self.history, who=who)

    def _unmute(self, who: str, form: Mapping[str, str]) -> None:
        self._write(who, "unmute", form.get("id", ""), "")
        unmute_alert(form.get("id", ""), self.history)

    def _write(self, who: str, action: str, about: str, reason: str, until: str = "") -> None:
        """Raises HarnessError: what nobody can trace is not done."""
        line = Audited(
            datetime.now(UTC).isoformat(timespec="seconds"), who, action, about[:LONGEST_REASON], reason, until
        )
        try:
            with open(self.folder / AUDIT, "ab") as file:
                file.write(msgspec.json.encode(line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise HarnessError(
                f"{self.folder / AUDIT} cannot be written ({error.strerror}): nothing was changed"
            ) from None


async def _read_form(request: Request) -> dict[str, str]:
    """What is longer is not read to its end, whatever its header says of its length."""
    kind = request.headers.get("content-type", "").partition(";")[0]
    body = bytearray()
    if kind == "application/x-www-form-urlencoded":
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_FORM:
                break
    if not 0 < len(body) <= LONGEST_FORM:
        raise UsageError(f"a form of at most {LONGEST_FORM:,} bytes is expected")
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise UsageError(f"a form of at most {MOST_FIELDS} fields is expected") from None
    return {name: values[0] for name, values in found.items()}


def _demand_same_site(request: Request) -> None:
    """Beside the token: browsers say from which page a form comes."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("the form comes from a page of another site")
