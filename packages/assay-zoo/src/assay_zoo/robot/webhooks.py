"""POST /hooks/github and /hooks/gitlab: verified, written down, answered 202. All else happens later, elsewhere."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from assay.errors import StoreError
from assay_zoo.robot.config import RobotConfig
from assay_zoo.robot.deliveries import Deliveries
from assay_zoo.robot.webhook_payloads import FORGES, Forge

_LOG = logging.getLogger("assay.robot.webhooks")
_THREADS = 4
_ID_MOST = 200
_LENGTH_DIGITS = 18
_SMALL_BYTES = 1_000_000
_LARGE_AT_ONCE = 2
"""Bodies past _SMALL_BYTES that are read at one time: nobody has proved yet who sends them."""


class Webhooks:
    """`wake` is called when there is a new hint."""

    def __init__(self, config: RobotConfig, deliveries: Deliveries, *, wake: Callable[[], None]) -> None:
        self._config, self._deliveries, self._wake = config, deliveries, wake
        # Threads of their own: pages that wait for a slow database never hold up a delivery.
        self._limiter = CapacityLimiter(_THREADS)
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)

    def routes(self) -> list[Route]:
        """None where robot.toml has no [webhook]; else that of the forge in use."""
        name = type(self._config.source).__name__.removesuffix("Table").lower()
        if self._config.webhook is None or name not in FORGES:
            return []
        forge = FORGES[name]

        async def receive(request: Request) -> Response:
            status, message = await self._receive(request, forge)
            # A connection whose body was not read to its end cannot be used again.
            headers = {"connection": "close"} if status in (408, 413, 415) else {}
            return JSONResponse({"message": message}, status, headers=headers)

        return [Route(f"/hooks/{name}", receive, methods=["POST"])]

    async def _receive(self, request: Request, forge: Forge) -> tuple[int, str]:
        settings = self._config.webhook
        assert settings is not None
        headers = {name.lower(): value for name, value in request.headers.items()}
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return 415, "send the delivery as application/json"
        try:
            body = await self._body(request, settings.body_bytes, settings.body_s)
        except TimeoutError:
            return 408, f"the body did not come within {settings.body_s:g} s"
        except ClientDisconnect:
            return 400, "the body is cut short"
        if body is None:
            return 413, f"the body is larger than {settings.body_bytes} bytes"
        if not forge.authentic(headers, body, self._config.webhook_secrets):
            _LOG.warning("a delivery without a valid signature was refused")
            return 401, "the signature is not that of a secret of this robot"
        delivery = forge.delivery(headers, body)
        if not delivery or len(delivery) > _ID_MOST or not delivery.isprintable():
            return 400, "the delivery has no usable id"
        payload = _parsed(body)
        if payload is None:
            return 400, "the body is no JSON object"
        hint = forge.hint(headers, payload)
        if hint is None:
            return 202, "nothing to do for this event"
        digest = hashlib.sha256(body).hexdigest()
        try:
            new = await to_thread.run_sync(self._deliveries.receive, delivery, digest, hint, limiter=self._limiter)
        except StoreError as error:
            _LOG.error("%s", error)
            return 503, "the robot's database cannot be used now; deliver again later"
        if not new:
            return 409, "this delivery was received before"
        self._wake()
        return 202, "taken"

    async def _body(self, request: Request, most: int, seconds: float) -> bytes | None:
        """None where it is larger than `most`. Raises TimeoutError."""
        length = declared_bytes(request)
        declared = most if length is None else length
        if declared > most:
            return None
        if declared <= _SMALL_BYTES:
            return await asyncio.wait_for(_read(request, declared), seconds)
        await asyncio.wait_for(self._large.acquire(), seconds)
        try:
            return await asyncio.wait_for(_read(request, most), seconds)
        finally:
            self._large.release()


def declared_bytes(request: Request) -> int | None:
    """How long the body is by its header; None where that says no length that a body can have."""
    length = request.headers.get("content-length", "")
    return int(length) if length.isdecimal() and len(length) <= _LENGTH_DIGITS else None


async def _read(request: Request, most: int) -> bytes | None:
    """None as soon as it is known to be larger than `most`, whatever its header says."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            return None
    return bytes(body)


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None
