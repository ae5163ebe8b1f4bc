"""Before every answer: who asks."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from assay.web import responses
from assay.web.person import NOBODY, Person
from assay.web.sign_in import SignIn

LONGEST_NAME = 200


class KnowsWhoAsks:
    """Puts the person into the scope, and what templates say of them. A name that a proxy gives goes before that of a session."""

    def __init__(self, app: ASGIApp, sign_in: SignIn | None) -> None:
        self._app, self._sign_in = app, sign_in

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._sign_in is None:
            await self._app(scope, receive, send)
            return
        sign_in = self._sign_in
        header = sign_in.header.lower().encode("latin-1")
        values = [value.decode("latin-1").strip() for name, value in scope["headers"] if name == header]
        client = scope.get("client")
        if values and (len(values) > 1 or client is None or not sign_in.believes(client[0])):
            text = f"the header {sign_in.header} is believed of the proxy alone: ask by way of it"
            await responses.data({"error": text}, 403)(scope, receive, send)
            return
        came_from_proxy = bool(values and values[0])
        person = Person(values[0][:LONGEST_NAME]) if values else NOBODY
        if not person.name and sign_in.oidc is not None:
            person = sign_in.oidc.who(Request(scope))
        state = scope.setdefault("state", {})
        state["person"], state["actor"] = person, _actor(sign_in, person, not came_from_proxy)
        state["can_sign_in"] = sign_in.oidc is not None and not person.name
        await self._app(scope, receive, send)


def _actor(sign_in: SignIn, person: Person, has_session: bool) -> dict[str, object] | None:
    """For the templates; None for nobody."""
    if not person.name:
        return None
    return {
        "name": person.name,
        "may_act": sign_in.may_act(person),
        "may_approve": sign_in.may_approve(person),
        "may_sign_out": has_session,
        "token": sign_in.token(person.name),
    }
