"""Pages that take long: how often they are made, and who waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from assay.errors import StoreUnreachable
from assay.stores.sql import SqlStore
from assay.web.app import _in_thread
from assay.web.site import AT_ONCE, Cache, Site

LONG_S = 10.0
Get = Callable[[str], Awaitable[httpx.Response]]


class _Pages:
    """`/slow` is not ready before `ready`."""

    def __init__(self, store: SqlStore, kept_s: float) -> None:
        self.site = Site(store, Path(), answers=Cache(kept_s), moving=Cache(3600.0))
        self.begun, self.ready, self.fails = threading.Semaphore(0), threading.Event(), False
        self.made: list[str] = []

    def slow(self, request: Request) -> Response:
        self.made.append(request.url.query)
        self.begun.release()
        assert self.ready.wait(LONG_S)
        if self.fails:
            raise StoreUnreachable("no server")
        return PlainTextResponse(f"slow {request.url.query}")

    def use(self, script: Callable[[_Pages, Get], Awaitable[None]]) -> None:
        routes = [
            Route("/slow", _in_thread(self.site, self.slow)),
            Route(
                "/inner",
                _in_thread(self.site, lambda request: self.site.moving.get("inner", lambda: self.slow(request))),
            ),
            Route("/fast", _in_thread(self.site, lambda _: PlainTextResponse("fast"))),
        ]
        transport = httpx.ASGITransport(_SignedIn(Starlette(routes=routes)))

        async def run() -> None:
            async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
                try:
                    await script(self, client.get)
                finally:
                    self.ready.set()

        asyncio.run(run())


class _SignedIn:
    """Whoever says so in the address."""

    def __init__(self, app: Starlette) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"] = {"actor": "ann"} if b"as=ann" in scope["query_string"] else {}
        await self._app(scope, receive, send)


@pytest.fixture
def store(tmp_path: Path) -> Any:
    store = SqlStore(str(tmp_path / "history.db"))
    yield store
    store.close()


async def _has_begun(pages: _Pages) -> None:
    assert await asyncio.to_thread(pages.begun.acquire, timeout=LONG_S)


def test_many_readers_of_a_slow_page_wait_for_one_and_hold_up_nobody(store: SqlStore) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        asked = [asyncio.ensure_future(get("/slow")) for _ in range(2 * AT_ONCE)]
        await _has_begun(pages)
        assert (await asyncio.wait_for(get("/fast"), LONG_S / 2)).text == "fast"
        pages.ready.set()
        assert {response.text for response in await asyncio.gather(*asked)} == {"slow "}
        assert pages.made == [""]
        assert (await get("/slow")).text == "slow "
        assert pages.made == ["", ""], "nothing is kept"

    _Pages(store, 0.0).use(script)


def test_a_page_that_is_kept_waits_for_nobody(store: SqlStore) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        await get("/fast")
        every = [*(f"/slow?{number}" for number in range(AT_ONCE - 1)), f"/inner?{AT_ONCE - 1}"]
        asked = [asyncio.ensure_future(get(path)) for path in every]
        for _ in asked:
            await _has_begun(pages)
        assert (await asyncio.wait_for(get("/fast"), LONG_S / 2)).text == "fast"
        pages.ready.set()
        assert [response.text for response in await asyncio.gather(*asked)] == [
            f"slow {number}" for number in range(AT_ONCE)
        ]

    _Pages(store, 3600.0).use(script)


@pytest.mark.parametrize("who", ["", "&as=ann"])
def test_pages_that_wait_for_the_same_value_hold_up_nobody(store: SqlStore, who: str) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        asked = [asyncio.ensure_future(get(f"/inner?{number}{who}")) for number in range(2 * AT_ONCE)]
        await _has_begun(pages)
        assert (await asyncio.wait_for(get("/fast"), LONG_S / 2)).text == "fast"
        pages.ready.set()
        assert len({response.text for response in await asyncio.gather(*asked)}) == 1
        assert len(pages.made) == 1
        again = [get(f"/slow?again{number}{who}") for number in range(2 * AT_ONCE)]
        assert len(await asyncio.gather(*again)) == 2 * AT_ONCE, "every place is there again"

    _Pages(store, 0.0).use(script)


def test_no_more_pages_are_made_at_once_than_there_are_places(store: SqlStore) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        inner = [asyncio.ensure_future(get(f"/inner?{number}")) for number in range(2 * AT_ONCE)]
        await _has_begun(pages)
        slow = [asyncio.ensure_future(get(f"/slow?{number}")) for number in range(2 * AT_ONCE)]
        for _ in range(AT_ONCE - 1):
            await _has_begun(pages)
        assert not await asyncio.to_thread(pages.begun.acquire, timeout=0.2)
        pages.ready.set()
        assert len(await asyncio.gather(*inner, *slow)) == 4 * AT_ONCE

    _Pages(store, 0.0).use(script)


@pytest.mark.parametrize("who", ["", "&as=ann"])
def test_many_who_ask_for_slow_pages_of_one_kind_hold_up_nobody_who_asks_for_another(store: SqlStore, who: str) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        asked = [asyncio.ensure_future(get(f"/slow?{number}{who}")) for number in range(40)]
        for _ in range(AT_ONCE - 1):
            await _has_begun(pages)
        for number in range(3):
            assert (await asyncio.wait_for(get(f"/fast?{number}{who}"), LONG_S / 2)).text == "fast"
        pages.ready.set()
        assert len({response.text for response in await asyncio.gather(*asked)}) == 40

    _Pages(store, 0.0).use(script)


def test_what_fails_is_said_to_all_who_wait_and_tried_again_for_the_next(store: SqlStore) -> None:
    async def script(pages: _Pages, get: Get) -> None:
        pages.fails = True
        asked = [asyncio.ensure_future(get("/slow")) for _ in range(3)]
        await _has_begun(pages)
        pages.ready.set()
        said = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(error) for error in said] == [StoreUnreachable] * 3
        pages.fails = False
        assert (await get("/slow")).text == "slow "
        assert pages.made == ["", ""]

    _Pages(store, 3600.0).use(script)
