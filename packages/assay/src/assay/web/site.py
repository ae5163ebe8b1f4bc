"""What every page is made from: the history, where it lies, and what was computed a moment ago."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from anyio import from_thread
from starlette.concurrency import run_in_threadpool

from assay.ports import Browsable, Store

Value = TypeVar("Value")
AT_ONCE = 4
"""Pages that are made side by side: threads share one interpreter, and the more there are, the longer each waits for it between two rows
of what it reads."""
OF_ONE_KIND = AT_ONCE - 1
"""Of those, pages of one kind at most: who asks for others finds a place, however many wait for what is slow."""
_PLACE: ContextVar[asyncio.Semaphore] = ContextVar("place")
"""Of those `AT_ONCE`, where this thread has one."""


class BrowsableStore(Store, Browsable, Protocol):
    """A history that has both."""


class Cache:
    """Values that are good for some seconds after they were made. Of many that ask for one at once, one computes it, and all have that,
    however long it took. The oldest go first."""

    def __init__(self, seconds: float, most: int = 64) -> None:
        self._seconds, self._most = seconds, most
        self._known: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._under_way: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """`make` may raise: then nothing is kept, and all who wait are told. Who waits for another lets somebody else work meanwhile."""
        future, is_mine = self.ask(key)
        if is_mine:
            self.fill(key, make)
        value: Value = future.result() if future.done() else _waited_for(future)
        return value

    def ask(self, key: Hashable) -> tuple[Future[Any], bool]:
        """The value, there or under way; and whether who asks must `fill` it."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key], False
            future: Future[Any] = Future()
            future.set_running_or_notify_cancel()  # whoever waits no longer ends it for nobody else
            kept = self._known.get(key)
            if kept is not None and time.monotonic() - kept[0] <= self._seconds:
                future.set_result(kept[1])
                return future, False
            self._under_way[key] = future
            return future, True

    def fill(self, key: Hashable, make: Callable[[], Any]) -> None:
        """What `make` returns or raises is for all who asked."""
        try:
            value = make()
        except BaseException as error:  # noqa: BLE001 - it is raised wherever the value is waited for
            with self._lock:
                future = self._under_way.pop(key)
            future.set_exception(error)
            return
        with self._lock:
            future = self._under_way.pop(key)
            self._known[key] = time.monotonic(), value
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        future.set_result(value)


def _waited_for(future: Future[Value]) -> Value:
    place = _PLACE.get(None)
    if place is None:
        return future.result()
    from_thread.run_sync(place.release)
    try:
        return future.result()
    finally:
        from_thread.run(place.acquire)


@dataclass(frozen=True)
class Site:
    """`folder` is the history's on this machine. `answers` are whole pages by their address, `moving` keeps what changes with every run,
    `minutes` what takes long to read, `settled` what never changes again, `cells` the history of some cells."""

    store: BrowsableStore
    folder: Path
    title: str = "Assay"
    answers: Cache = field(default_factory=lambda: Cache(1.0, most=64))
    moving: Cache = field(default_factory=lambda: Cache(1.0))
    minutes: Cache = field(default_factory=lambda: Cache(60.0))
    settled: Cache = field(default_factory=lambda: Cache(3600.0, most=16))
    cells: Cache = field(default_factory=lambda: Cache(3600.0, most=24))
    few: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    kinds: dict[str, asyncio.Semaphore] = field(
        default_factory=lambda: defaultdict(lambda: asyncio.Semaphore(OF_ONE_KIND))
    )

    async def make(self, kind: str, value: Callable[[], Value]) -> Value:
        """In a thread, as soon as one of the few places is free; `kind` is the address without what is asked of it. It goes on where nobody
        waits for it any more."""
        return await asyncio.shield(asyncio.create_task(self._make(kind, value)))

    async def _make(self, kind: str, value: Callable[[], Value]) -> Value:
        async with self.kinds[kind], self.few:
            _PLACE.set(self.few)
            return await run_in_threadpool(value)
