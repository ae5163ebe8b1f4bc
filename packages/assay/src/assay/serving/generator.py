"""The load generator: one thread, one event loop, requests at their times, and nothing done with answers but to note when they came.

Time counts from when a request was due, not from when it was sent (coordinated omission: Tene, How NOT to measure latency, 2013).
The loop waits by select, whose timeouts are exact to tens of microseconds, where epoll's are whole milliseconds.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from assay.serving.requests import Mix

MOST_OPEN = 400
"""Requests under way: beyond, one counts as an error, and the service as overrun."""
_END = b"0\r\n\r\n"


@dataclass
class Sent:
    """One request: when it was due, sent and answered, in seconds from the start of the load, and what came when."""

    due: float
    sent: float = -1.0
    parts: list[tuple[float, bytes]] = field(default_factory=list)
    ended: float = -1.0
    error: str = ""


@dataclass(frozen=True)
class Load:
    """All requests of one load. `cpu_s` is the processor time of the generator, `wall_s` how long it took."""

    requests: list[Sent]
    cpu_s: float
    wall_s: float
    key: str = field(default="", repr=False)
    """That was sent, and is not to be shown."""


class _Connection(asyncio.Protocol):
    """A connection that is kept for the next request."""

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        self.transport: asyncio.Transport | None = None
        self.now: Sent | None = None
        self.left = -1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.clock.made.append(self)

    def data_received(self, data: bytes) -> None:
        if (now := self.now) is None:
            return
        now.parts.append((self.clock.time(), data))
        if self._whole(now, data):
            self._end("")

    def _whole(self, now: Sent, data: bytes) -> bool:
        """Whether the answer is all there: its chunks end with an empty one, or it is as long as it said."""
        if self.left < 0:
            head, found, rest = b"".join(part for _, part in now.parts).partition(b"\r\n\r\n")
            if not found:
                return False
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0].strip()
            if not length:
                return rest.endswith(_END)
            self.left = int(length) - len(rest)
        else:
            self.left -= len(data)
        return self.left <= 0

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._end(f"connection lost{f': {error}' if error else ''}")

    def _end(self, error: str) -> None:
        if (now := self.now) is not None:
            self.now, self.left = None, -1
            now.ended, now.error = self.clock.time(), error
            self.clock.done(self)


class _Clock:
    """Time since the start, the connections that are free, and the requests that are not over."""

    def __init__(self) -> None:
        self.start, self.open = 0.0, 0
        self.idle: list[_Connection] = []
        self.made: list[_Connection] = []
        self.over = asyncio.Event()
        self.left = 0

    def time(self) -> float:
        return time.perf_counter() - self.start

    def done(self, connection: _Connection) -> None:
        self.open -= 1
        self.left -= 1
        if connection.transport is not None:
            self.idle.append(connection)
        if self.left == 0:
            self.over.set()


def generate(mix: Mix, times: Sequence[float], *, timeout_s: float = 30.0) -> Load:
    """Sends all of them, and waits at most `timeout_s` for the last. Nothing is raised for what the service does."""
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    requests = [Sent(due) for due in times]
    contents = [mix.request(number) for number in range(len(times))]
    gc.collect()
    gc.disable()
    cpu, began = time.process_time(), time.perf_counter()
    try:
        loop.run_until_complete(_run(mix, requests, contents, timeout_s))
    finally:
        gc.enable()
        spent = Load(requests, time.process_time() - cpu, time.perf_counter() - began, mix.key)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    return spent


async def _run(mix: Mix, requests: Sequence[Sent], contents: Sequence[bytes], timeout_s: float) -> None:
    loop, clock, parts = asyncio.get_running_loop(), _Clock(), urlsplit(mix.address)
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    port = parts.port or (443 if secure else 80)
    clock.left = len(requests)
    tasks: set[asyncio.Task[None]] = set()

    def write(connection: _Connection, number: int) -> None:
        request = requests[number]
        connection.now, request.sent = request, clock.time()
        assert connection.transport is not None
        connection.transport.write(contents[number])

    async def connect(number: int) -> None:
        try:
            made = loop.create_connection(lambda: _Connection(clock), str(parts.hostname), port, ssl=secure)
            _, connection = await asyncio.wait_for(made, timeout_s)
            write(connection, number)
        except (OSError, TimeoutError):
            refuse(number, "no connection")

    def refuse(number: int, why: str) -> None:
        requests[number].error = why
        clock.open -= 1
        clock.left -= 1
        if clock.left == 0:
            clock.over.set()

    def send(number: int) -> None:
        clock.open += 1
        if clock.open > MOST_OPEN:
            refuse(number, f"{MOST_OPEN} requests were under way")
            return
        while clock.idle:
            connection = clock.idle.pop()
            if connection.transport is not None and not connection.transport.is_closing():
                write(connection, number)
                return
        task = loop.create_task(connect(number))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    first = loop.time() + 0.05
    clock.start = time.perf_counter() + (first - loop.time())
    for number, request in enumerate(requests):
        loop.call_at(first + request.due, send, number)
    try:
        await asyncio.wait_for(clock.over.wait(), (requests[-1].due if requests else 0.0) + timeout_s)
    except TimeoutError:
        for request in requests:
            if request.ended < 0 and not request.error:
                request.error = f"no answer in {timeout_s:g} s"
    for task in tasks:
        task.cancel()
    for connection in clock.made:
        connection.now = None  # what it had is told already
        if connection.transport is not None:
            connection.transport.abort()
    await asyncio.sleep(0)
