"""The load generator: one thread, one event loop, requests at their times, and nothing done with answers but to note when they came.

Time counts from when a request was due, not from when it was sent (coordinated omission: Tene, How NOT to measure latency, 2013).
The loop waits by select, whose timeouts are exact to tens of microseconds, where epoll's are whole milliseconds.
"""

from __future__ import annotations

import asyncio
import gc
import os
import selectors
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from assay.endpoints.host_lookup import Addresses, looked_up
from assay.serving.framing import Framing
from assay.serving.requests import Mix

MOST_OPEN = 400
"""Requests under way: beyond, one counts as an error, and the service as overrun."""
_BUFFER = 65_536


@dataclass
class Sent:
    """One request, for so many tokens: when it was due, sent and answered, in seconds from the start of the load, and what came when."""

    due: float
    sent: float = -1.0
    parts: list[tuple[float, bytes]] = field(default_factory=list)
    ended: float = -1.0
    error: str = ""
    tokens: int = 0


@dataclass(frozen=True)
class Load:
    """All requests of one load. `cpu_s` is the processor time of the generator, `wall_s` how long it took."""

    requests: list[Sent]
    cpu_s: float
    wall_s: float
    key: str = field(default="", repr=False)
    """That was sent, and is not to be shown."""


class _Connection(asyncio.BufferedProtocol):
    """A connection that is kept for the next request. It reads into one buffer, which is cheaper than a new one for each token."""

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        self.buffer = bytearray(_BUFFER)
        self.transport: asyncio.Transport | None = None
        self.now: Sent | None = None
        self.framing = Framing(0)

    def ask(self, request: Sent, content: bytes) -> None:
        """It is sent now, and what comes from now on is the answer to it."""
        assert self.transport is not None
        self.now, self.framing = request, Framing(request.tokens)
        request.sent = self.clock.time()
        self.transport.write(content)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.clock.made.append(self)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - the protocol gives it
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if (now := self.now) is None:  # nothing was asked: it would be the answer to the next request
            if self.transport is not None:
                self.transport.abort()
            return
        data = bytes(memoryview(self.buffer)[:nbytes])
        now.parts.append((self.clock.time(), data))
        if self.framing.take(data):
            self._end(self.framing.error)

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        whole = error is None and self.framing.closed()
        self._end("" if whole else f"connection lost{f': {error}' if error else ''}")

    def _end(self, error: str) -> None:
        if (now := self.now) is None:
            return
        self.now, now.ended = None, self.clock.time()
        now.error = error or self.clock.late(now)
        if now.error:
            now.parts.clear()  # nobody reads them, and they may be many
        if not self.framing.keeps and self.transport is not None:
            self.transport.abort()
            self.transport = None
        self.clock.done(self)


class _Loop(asyncio.SelectorEventLoop):
    """It looks no name up: that was done before the load, and would be waited for in it."""

    def __init__(self, addresses: Addresses) -> None:
        super().__init__(selectors.SelectSelector())
        self._addresses = addresses

    async def getaddrinfo(self, *arguments: Any, **settings: Any) -> Addresses:  # noqa: ARG002 - of one host alone
        return self._addresses


class _Clock:
    """Time since the start, the connections that are free, and the requests that are not over."""

    def __init__(self, timeout_s: float) -> None:
        self.start, self.open, self.timeout_s = 0.0, 0, timeout_s
        self.idle: list[_Connection] = []
        self.made: list[_Connection] = []
        self.over = asyncio.Event()
        self.left = 0

    def time(self) -> float:
        return time.perf_counter() - self.start

    def late(self, request: Sent) -> str:
        """Said of an answer that took longer than one may, whatever else was waited for meanwhile; "" of others."""
        return f"no answer in {self.timeout_s:g} s" if request.ended - request.due > self.timeout_s else ""

    def done(self, connection: _Connection) -> None:
        self.open -= 1
        self.left -= 1
        if connection.transport is not None:
            self.idle.append(connection)
        if self.left == 0:
            self.over.set()


def generate(mix: Mix, times: Sequence[float], *, timeout_s: float = 30.0) -> Load:
    """Sends all of them, and waits at most `timeout_s` for the last. Nothing is raised for what the service does. Where this process may,
    its thread is scheduled before all others for as long: it takes little, and what else runs here does not make it late."""
    requests = [Sent(due, tokens=mix.tokens_of(number)) for number, due in enumerate(times)]
    began = time.perf_counter()
    parts = urlsplit(mix.address)
    try:
        addresses = looked_up(str(parts.hostname), parts.port or (443 if parts.scheme == "https" else 80), timeout_s)
    except OSError:
        for request in requests:
            request.error = "no connection"
        return Load(requests, 0.0, time.perf_counter() - began, mix.key)
    loop = _Loop(addresses)
    contents = [mix.request(number) for number in range(len(times))]
    gc.collect()
    gc.disable()
    cpu, began = time.process_time(), time.perf_counter()
    try:
        with _before_others():
            loop.run_until_complete(_run(mix, requests, contents, timeout_s))
    finally:
        gc.enable()
        spent = Load(requests, time.process_time() - cpu, time.perf_counter() - began, mix.key)
        _close(loop)
    return spent


def _close(loop: asyncio.AbstractEventLoop) -> None:
    """What still runs, as when it is interrupted, is broken off and waited for: the loop would complain of it."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    if tasks:
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@contextmanager
def _before_others() -> Iterator[None]:
    """This thread in real time (sched(7)), where the machine has that, and lets it."""
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except (AttributeError, OSError):
        yield
        return
    try:
        yield
    finally:
        policy, priority = before
        try:
            os.sched_setscheduler(0, policy, priority)
        except OSError:
            # Without CAP_SYS_NICE the flag cannot be taken off again, and nothing is set where it would be.
            with suppress(OSError):
                os.sched_setscheduler(0, policy | os.SCHED_RESET_ON_FORK, priority)


class _Sending:
    """Requests at their times, each on a connection that is free or a new one."""

    def __init__(self, mix: Mix, requests: Sequence[Sent], contents: Sequence[bytes], timeout_s: float) -> None:
        self.clock = _Clock(timeout_s)
        self.clock.left = len(requests)
        self._requests, self._contents, self._timeout_s = requests, contents, timeout_s
        self._loop, self._tasks = asyncio.get_running_loop(), set[asyncio.Task[None]]()
        parts = urlsplit(mix.address)
        self._host = str(parts.hostname)
        self._secure = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._secure else 80)

    def begin(self) -> None:
        """From now on each is sent when it is due."""
        first = self._loop.time() + 0.05
        self.clock.start = time.perf_counter() + (first - self._loop.time())
        for number, request in enumerate(self._requests):
            self._loop.call_at(first + request.due, self._send, number)

    def _send(self, number: int) -> None:
        self.clock.open += 1
        if self.clock.open > MOST_OPEN:
            self._refuse(number, f"{MOST_OPEN} requests were under way")
            return
        while self.clock.idle:
            connection = self.clock.idle.pop()
            if connection.transport is not None and not connection.transport.is_closing():
                self._write(connection, number)
                return
        task = self._loop.create_task(self._connect(number))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, number: int) -> None:
        try:
            made = self._loop.create_connection(
                lambda: _Connection(self.clock), self._host, self._port, ssl=self._secure
            )
            _, connection = await asyncio.wait_for(made, self._timeout_s)
            self._write(connection, number)
        except (OSError, TimeoutError):
            self._refuse(number, "no connection")

    def _write(self, connection: _Connection, number: int) -> None:
        connection.ask(self._requests[number], self._contents[number])

    def _refuse(self, number: int, why: str) -> None:
        self._requests[number].error = why
        self.clock.open -= 1
        self.clock.left -= 1
        if self.clock.left == 0:
            self.clock.over.set()

    async def end(self) -> None:
        """What is under way still is broken off."""
        for task in list(self._tasks):
            task.cancel()
        for connection in self.clock.made:
            connection.now = None  # what it had is told already
            if connection.transport is not None:
                connection.transport.abort()
        await asyncio.sleep(0)


async def _run(mix: Mix, requests: Sequence[Sent], contents: Sequence[bytes], timeout_s: float) -> None:
    sending = _Sending(mix, requests, contents, timeout_s)
    sending.begin()
    try:
        await asyncio.wait_for(sending.clock.over.wait(), (requests[-1].due if requests else 0.0) + timeout_s)
    except TimeoutError:
        for request in requests:
            if request.ended < 0 and not request.error:
                request.error = f"no answer in {timeout_s:g} s"
                request.parts.clear()
    finally:
        await sending.end()
