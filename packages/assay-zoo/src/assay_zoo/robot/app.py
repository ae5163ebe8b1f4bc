"""The robot as a web application: health, a rerun and an approval for operators, and the pages."""

from __future__ import annotations

import hmac
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from assay_zoo.robot.service import Service

if TYPE_CHECKING:
    from assay_zoo.robot.config import Secret


def app_of(service: Service) -> Starlette:
    """The application of an opened service: started with it, stopped with it."""
    from anyio import to_thread

    @asynccontextmanager
    async def living(_: Starlette) -> AsyncIterator[None]:
        await to_thread.run_sync(service.start)
        try:
            yield
        finally:
            await to_thread.run_sync(service.stop)

    operations = _Operations(service)
    return Starlette(routes=[*operations.routes(), *_pages(service)], lifespan=living)


def _pages(service: Service) -> list[BaseRoute]:
    from assay_zoo.robot.pages import page_routes

    return page_routes(service.queue, service.title, service.hides)


class _Operations:
    def __init__(self, service: Service) -> None:
        self._service = service

    def routes(self) -> list[Route]:
        wishes = {"rerun": self.rerun, "approve": self.approve}
        asked = [Route(f"/submissions/{{identity:int}}/{name}", do, methods=["POST"]) for name, do in wishes.items()]
        return [
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            *(asked if self._service.config.operator else []),
        ]

    async def healthz(self, _: Request) -> Response:
        """Alive: the loop answers."""
        return JSONResponse({"alive": True})

    def readyz(self, _: Request) -> Response:
        missing = {name: self._service.hides(reason) for name, reason in self._service.health.ready().items()}
        return JSONResponse({"ready": not missing, "reasons": missing}, 503 if missing else 200)

    async def rerun(self, request: Request) -> Response:
        """Put a decided submission into the queue again."""
        return await self._asked(request, self._service.rerun, "there is no such submission that is decided")

    async def approve(self, request: Request) -> Response:
        """Let code of a first-time author be run, and check the submission again."""
        return await self._asked(
            request, self._service.approve, "there is no such submission that waits for an approval"
        )

    async def _asked(self, request: Request, do: Callable[[int], bool], refusal: str) -> Response:
        """The operator's token comes as a bearer or in the form."""
        from anyio import to_thread

        if not await _has(request, self._service.config.operator):
            return JSONResponse({"message": "this needs the operator's token"}, 401)
        if not await to_thread.run_sync(do, int(request.path_params["identity"])):
            return JSONResponse({"message": refusal}, 409)
        return JSONResponse({"message": "in the queue again"}, 202)


_FORM_MOST = 4096
_LENGTH_DIGITS = 18


async def _has(request: Request, token: Secret | None) -> bool:
    if token is None:
        return False
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        length = declared_bytes(request)
        if length is None or length > _FORM_MOST:
            return False
        from urllib.parse import parse_qs

        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])[0]
    return hmac.compare_digest(given.strip().encode(), token.reveal().encode())


def declared_bytes(request: Request) -> int | None:
    """How long the body is by its header; None where that says no length that a body can have."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() and len(length) <= _LENGTH_DIGITS else None
