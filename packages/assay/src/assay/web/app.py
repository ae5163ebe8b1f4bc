"""The application: addresses, the checks before every answer, and what an error says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from assay.errors import AssayError, HarnessError, RunNotFound, StoreUnreachable, UsageError
from assay.web import render
from assay.web.answer import Answer, NotFound
from assay.web.hosts import OnlyTheseHosts
from assay.web.matrix import matrix
from assay.web.now import now
from assay.web.result import result
from assay.web.runs import runs
from assay.web.site import Site

_LOG = logging.getLogger("assay.web")
LONGEST_QUERY = 4000
FORMATS = ("html", "json", "csv")

View = Callable[[Site, Mapping[str, str]], Answer]
PAGES: dict[str, View] = {"/": now, "/matrix": matrix, "/result": result, "/runs": runs}
"""Each is also there for programs: at /api/v1 (JSON), and with `format=csv`."""


def make_app(site: Site, hosts: Collection[str]) -> Starlette:
    """`hosts` are names by which browsers may call it; see `OnlyTheseHosts`."""
    routes: list[BaseRoute] = [
        *(Route(path, _handler(site, view), methods=["GET"]) for path, view in PAGES.items()),
        *(Route(api_path(path), _handler(site, view, "json"), methods=["GET"]) for path, view in PAGES.items()),
        Route("/healthz", _healthz, methods=["GET"]),
        Mount("/static", StaticFiles(directory=render.STATIC), name="static"),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(OnlyTheseHosts, hosts=hosts)],
        exception_handlers={
            AssayError: _refused(site),
            HTTPException: _not_there(site),
            Exception: _broken(site),
        },
    )


def api_path(path: str) -> str:
    """`/api/v1/now` for the first page."""
    return f"/api/v1{'/now' if path == '/' else path}"


def _handler(site: Site, view: View, always: str = "") -> Callable[[Request], object]:
    def answered(request: Request) -> Response:
        if len(request.url.query) > LONGEST_QUERY:
            raise UsageError(f"the address is longer than {LONGEST_QUERY:,} characters")
        query = {name: value.replace("\x00", "") for name, value in request.query_params.items()}
        wanted = always or query.pop("format", "html")
        if wanted not in FORMATS:
            raise UsageError(f"format is {wanted[:40]!r}; it is one of {', '.join(FORMATS)}")
        answer = view(site, query)
        if wanted == "json":
            return render.data(answer.data)
        if wanted == "csv" and answer.header:
            return render.table(answer, request.url.path.strip("/").replace("/", "-") or "now")
        if wanted == "csv":
            raise UsageError("this page has no table: leave format=csv out")
        return render.page(answer.template, {**frame(site, request), **answer.values})

    async def handler(request: Request) -> Response:
        return await run_in_threadpool(answered, request)

    return handler


def frame(site: Site, request: Request) -> dict[str, object]:
    """What every template needs."""
    query = {name: value for name, value in request.query_params.items() if name != "format"}
    return {"title": site.title, "path": request.url.path, "query": query}


async def _healthz(_: Request) -> Response:
    return render.data({"alive": True})


def _code(error: AssayError) -> int:
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
        return sentence(site, request, str(error), code)

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


def sentence(site: Site, request: Request, said: str, code: int) -> Response:
    """An error in one sentence, as a page or as JSON."""
    wants_data = request.url.path.startswith("/api/") or request.query_params.get("format") in ("json", "csv")
    if wants_data:
        return render.data({"error": said}, code)
    values = {**frame(site, request), "heading": HEADINGS.get(code, "Error"), "sentence": said}
    return render.page("sentence.html.j2", values, code)
