"""What may be changed by whom: alerts are muted and unmuted, runs and points of trends annotated, engines approved. Each change is written
down before it is made, and so is who signed in and out."""

from __future__ import annotations

import logging
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
from assay.commands.annotations import add_annotation
from assay.commands.baseline import approve_run
from assay.core.annotation import LONGEST_ANNOTATION
from assay.errors import HarnessError, UsageError
from assay.web.address import address
from assay.web.oidc import BACK, BEGIN, OUT, Oidc
from assay.web.person import Forbidden, Person
from assay.web.sign_in import SignIn

_LOG = logging.getLogger("assay.web")
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
        oidc = self.sign_in.oidc
        return [
            *(self._ways_in(oidc) if oidc else ()),
            Route("/alerts/mute", self._form(self._mute), methods=["POST"]),
            Route("/alerts/unmute", self._form(self._unmute), methods=["POST"]),
            Route("/annotations", self._form(self._annotate), methods=["POST"]),
            Route("/approve", self._form(self._approve, self.sign_in.demand_approver), methods=["POST"]),
        ]

    def _ways_in(self, oidc: Oidc) -> list[Route]:
        async def back(request: Request) -> Response:
            try:
                person, answer = await oidc.back(request)
            except Forbidden as error:
                _LOG.warning("sign-in refused: %s", error)
                raise
            await run_in_threadpool(self._write, person.name, "sign-in", "", "")
            return answer

        async def out(request: Request) -> Response:
            _demand_same_site(request)
            form = await _read_form(request)
            person: Person = request.state.person
            self.sign_in.demand_form(person, form.get("token", ""))
            await run_in_threadpool(self._write, person.name, "sign-out", "", "")
            return oidc.out(request)

        return [
            Route(BEGIN, oidc.begin, methods=["GET"]),
            Route(BACK, back, methods=["GET"]),
            Route(OUT, out, methods=["POST"]),
        ]

    def _form(
        self, act: Callable[[str, Mapping[str, str]], str], demand: Callable[[Person], None] | None = None
    ) -> Callable[[Request], object]:
        """`act` gives the address of the page that shows what it did."""
        demanded = demand or self.sign_in.demand_operator

        async def handler(request: Request) -> Response:
            person: Person = request.state.person
            _demand_same_site(request)
            demanded(person)
            form = await _read_form(request)
            self.sign_in.demand_form(person, form.get("token", ""))
            return RedirectResponse(await run_in_threadpool(act, person.name, form), status_code=303)

        return handler

    def _mute(self, who: str, form: Mapping[str, str]) -> str:
        days, reason = form.get("days", ""), form.get("reason", "").strip()
        if not (days.isascii() and days.isdigit()) or not 1 <= int(days[:4]) <= 365 or len(days) > 3:
            raise UsageError(f"days is {days[:20]!r}; it is a whole number from 1 to 365")
        if not reason or len(reason) > LONGEST_REASON:
            raise UsageError(f"a mute needs a reason of at most {LONGEST_REASON} characters")
        until = datetime.now(UTC) + timedelta(days=int(days))
        self._write(who, "mute", form.get("id", ""), reason, until.isoformat(timespec="seconds"))
        mute_alert(form.get("id", ""), until, reason, self.history, who=who)
        return "/alerts"

    def _unmute(self, who: str, form: Mapping[str, str]) -> str:
        self._write(who, "unmute", form.get("id", ""), "")
        unmute_alert(form.get("id", ""), self.history)
        return "/alerts"

    def _annotate(self, who: str, form: Mapping[str, str]) -> str:
        run, case, flow, text = (form.get(name, "") for name in ("run", "case", "flow", "text"))
        if not text.strip() or len(text) > LONGEST_ANNOTATION:
            raise UsageError(f"an annotation needs a text of at most {LONGEST_ANNOTATION} characters")
        if bool(case) != bool(flow):
            raise UsageError("an annotation is about a whole run, or names a case and a flow")
        self._write(who, "annotate", _about(run, case, flow), text)
        add_annotation(text, self.history, who=who, run=run, case=case, flow=flow)
        return _page_of(run, case, flow)

    def _approve(self, who: str, form: Mapping[str, str]) -> str:
        run, case, flow, reason = (form.get(name, "") for name in ("run", "case", "flow", "reason"))
        if not run or not case or not flow:
            raise UsageError("an approval names a run, a case and a flow")
        if not reason.strip() or len(reason) > LONGEST_REASON:
            raise UsageError(f"an approval needs a reason of at most {LONGEST_REASON} characters")
        self._write(who, "approve", _about(run, case, flow), reason)
        approve_run(run, reason, self.history, case=case, flow=flow, who=who)
        return _page_of(run, case, flow)

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


def _about(run: str, case: str, flow: str) -> str:
    return " ".join(part for part in (run, case, flow) if part)


def _page_of(run: str, case: str, flow: str) -> str:
    """Made from what was asked, below this server's own root: nobody is sent elsewhere."""
    return address("/result", case=case, flow=flow, run=run) if case else address("/matrix", run=run)


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
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=MOST_FIELDS)
    except ValueError:
        raise UsageError(f"a form of at most {MOST_FIELDS} fields is expected") from None
    # The one sign that a text in PostgreSQL cannot have.
    return {name: values[0].replace("\x00", "") for name, values in fields.items()}


def _demand_same_site(request: Request) -> None:
    """Beside the token: browsers say from which page a form comes."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Forbidden("the form comes from a page of another site")
