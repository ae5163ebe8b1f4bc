"""The application: addresses, the checks before every answer, and what an error says."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from assay.errors import AssayError, HarnessError, RunNotFound, StoreUnreachable, UsageError
from assay.web import responses
from assay.web.actions import Actions
from assay.web.address import address
from assay.web.answer import NotFound, NothingToCompare
from assay.web.badge import badge
from assay.web.feed import feed
from assay.web.hosts import OnlyTheseHosts
from assay.web.oidc import BEGIN
from assay.web.openapi import describe
from assay.web.pages import PAGES, View
from assay.web.person import Forbidden
from assay.web.site import Site
from assay.web.who_asks import KnowsWhoAsks

_LOG = logging.getLogger("assay.web")
LONGEST_QUERY = 4000
FORMATS = ("html", "json", "csv")


def make_app(site: Site, hosts: Collection[str], actions: Actions | None = None) -> Starlette:
    """`hosts` are names by which browsers may call it; see `OnlyTheseHosts`. Without `actions` nothing can be changed."""
    routes: list[BaseRoute] = [
        *(Route(page.path, _page(site, page.view), methods=["GET"]) for page in PAGES),
        *(Route(page.api, _page(site, page.view, "json"), methods=["GET"]) for page in PAGES),
        Route("/api/v1/openapi.json", _in_thread(site, lambda _: responses.data(describe())), methods=["GET"]),
        Route("/badge.svg", _in_thread(site, lambda request: badge(site, _asked(request))), methods=["GET"]),
        Route("/changes.atom", _in_thread(site, lambda request: feed(site, str(request.base_url))), methods=["GET"]),
        *(actions.routes() if actions else ()),
        Route("/healthz", _healthz, methods=["GET"]),
        Mount("/static", StaticFiles(directory=responses.STATIC), name="static"),
    ]
    return Starlette(
        routes=routes,
        middleware=[
            Middleware(OnlyTheseHosts, hosts=hosts),
            Middleware(KnowsWhoAsks, sign_in=actions.sign_in if actions else None),
        ],
        exception_handlers={AssayError: _refused(site), HTTPException: _not_there(site), Exception: _broken(site)},
    )


def _page(site: Site, view: View, always: str = "") -> Callable[[Request], Awaitable[Response]]:
    def answered(request: Request) -> Response:
        query = _asked(request)
        wanted = always or query.pop("format", "html")
        if wanted not in FORMATS:
            raise UsageError(f"format is {wanted[:40]!r}; it is one of {', '.join(FORMATS)}")
        answer = view(site, query)
        if wanted == "json":
            return responses.data(answer.data)
        if wanted == "csv" and answer.header:
            return responses.table(answer, request.url.path.strip("/").replace("/", "-") or "now")
        if wanted == "csv":
            raise UsageError("this page has no table: leave format=csv out")
        return responses.page(answer.template, {**frame(site, request), **answer.values})

    return _in_thread(site, answered)


def _asked(request: Request) -> dict[str, str]:
    """Without the one sign that a text in PostgreSQL cannot have, and no name has."""
    return {name: value.replace("\x00", "") for name, value in request.query_params.items()}


def _in_thread(site: Site, answered: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """A slow database holds up few others. Of those who ask for the same one computes it, and the others take no place while they wait, nor
    does who asks for what is kept; whoever is signed in sees at once what he changed. Pages of one kind do not take every place."""

    async def handler(request: Request) -> Response:
        if len(request.url.query) > LONGEST_QUERY:
            raise UsageError(f"the address is longer than {LONGEST_QUERY:,} characters")
        asks, kind = request.scope.get("state", {}), request.url.path
        if asks.get("actor"):
            return await site.make(kind, lambda: answered(request))
        asked = str(request.url), bool(asks.get("can_sign_in"))
        future, is_mine = site.answers.ask(asked)
        if is_mine:
            await site.make(kind, lambda: site.answers.fill(asked, lambda: answered(request)))
        response: Response = await asyncio.wrap_future(future)
        return response

    return handler


def frame(site: Site, request: Request) -> dict[str, object]:
    """What every template needs."""
    query = {name: value for name, value in request.query_params.items() if name != "format"}
    menu = [(page.menu, page.path) for page in PAGES if page.menu]
    asks = request.scope.get("state", {})
    return {
        "title": site.title,
        "path": request.url.path,
        "query": query,
        "menu": menu,
        "actor": asks.get("actor"),
        "sign_in": address(BEGIN, to=address(request.url.path, **query)) if asks.get("can_sign_in") else "",
    }


async def _healthz(_: Request) -> Response:
    return responses.data({"alive": True})


def _code(error: AssayError) -> int:
    if isinstance(error, Forbidden):
        return 403
    if isinstance(error, RunNotFound | NotFound):
        return 404
    if isinstance(error, UsageError):
        return 400
    return 503 if isinstance(error, StoreUnreachable | HarnessError) else 500


def _refused(site: Site) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, AssayError)
        code = _code(error)
        if code >= 500:
            _LOG.error("%s", error)
        heading = "Nothing to compare" if isinstance(error, NothingToCompare) else ""
        return sentence(site, request, str(error), code, heading)

    return answer


def _not_there(site: Site) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        said = "there is no such page" if error.status_code == 404 else f"this is not allowed here ({error.detail})"
        return sentence(site, request, said, error.status_code)

    return answer


def _broken(site: Site) -> Callable[[Request, Exception], Response]:
    def answer(request: Request, error: Exception) -> Response:
        _LOG.error("%s", request.url.path, exc_info=error)
        return sentence(site, request, "that was a defect of assay itself; the log of the server says more", 500)

    return answer


HEADINGS = {400: "Not understood", 403: "Not allowed", 404: "Not found", 405: "Not allowed", 503: "Not now"}


def sentence(site: Site, request: Request, said: str, code: int, heading: str = "") -> Response:
    """An error in one sentence, as a page or as JSON."""
    wants_data = request.url.path.startswith("/api/") or request.query_params.get("format") in ("json", "csv")
    if wants_data:
        return responses.data({"error": said}, code)
    framed = frame(site, request)
    framed["sign_in"] = framed["sign_in"] and BEGIN  # nobody comes back to an error
    values = {**framed, "heading": heading or HEADINGS.get(code, "Error"), "sentence": said}
    return responses.page("sentence.html.j2", values, code)
