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
from urllib.parse import urlsplit

from assay.serving.requests import Mix

MOST_OPEN = 400
"""Requests under way: beyond, one counts as an error, and the service as overrun."""
_BUFFER = 65_536
_MOST_BYTES = 2**26
"""Of one answer: a service that never ends one is not waited for with all memory."""
_MOST_DIGITS = 18
_END = b"0\r\n\r\n"
_UNKNOWN, _CHUNKED = -1, -2
"""How many bytes of an answer are left: its head is not read yet, or it does not say."""


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


class _Connection(asyncio.BufferedProtocol):
    """A connection that is kept for the next request. It reads into one buffer, which is cheaper than a new one for each token."""

    def __init__(self, clock: _Clock) -> None:
        self.clock = clock
        self.buffer = bytearray(_BUFFER)
        self.transport: asyncio.Transport | None = None
        self.now: Sent | None = None
        self.left, self.tail, self.size = _UNKNOWN, b"", 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.clock.made.append(self)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - the protocol gives it
        return self.buffer

    def buffer_updated(self, nbytes: int) -> None:
        if (now := self.now) is None:
            return
        data = bytes(memoryview(self.buffer)[:nbytes])
        now.parts.append((self.clock.time(), data))
        self.size += len(data)
        if self._whole(now, data):
            self._end("")
        elif self.size > _MOST_BYTES and self.transport is not None:
            self._end(f"an answer of more than {_MOST_BYTES // 2**20} MiB")
            self.transport.abort()

    def _whole(self, now: Sent, data: bytes) -> bool:
        """Whether the answer is all there: its chunks end with an empty one, or it is as long as it said."""
        if self.left == _CHUNKED:
            self.tail = (self.tail + data)[-len(_END) :]
            return self.tail == _END
        if self.left == _UNKNOWN:
            head, found, rest = b"".join(part for _, part in now.parts).partition(b"\r\n\r\n")
            if not found:
                return False
            length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0].strip()
            if not length:
                self.left, self.tail = _CHUNKED, rest[-len(_END) :]
                return self.tail == _END
            if not length.isdigit() or len(length) > _MOST_DIGITS:
                if self.transport is not None:
                    self.transport.abort()  # the rest of it would be the answer to the next request
                self._end("an answer whose length is no number")
                return False
            self.left = int(length) - len(rest)
        else:
            self.left -= len(data)
        return self.left <= 0

    def connection_lost(self, error: Exception | None) -> None:
        self.transport = None
        self._end(f"connection lost{f': {error}' if error else ''}")

    def _end(self, error: str) -> None:
        if (now := self.now) is not None:
            self.now, self.left, self.tail, self.size = None, _UNKNOWN, b"", 0
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
    """Sends all of them, and waits at most `timeout_s` for the last. Nothing is raised for what the service does. Where this process may,
    its thread is scheduled before all others for as long: it takes little, and what else runs here does not make it late."""
    loop = asyncio.SelectorEventLoop(selectors.SelectSelector())
    requests = [Sent(due) for due in times]
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
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
    return spent


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
        self.clock = _Clock()
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
        request = self._requests[number]
        connection.now, request.sent = request, self.clock.time()
        assert connection.transport is not None
        connection.transport.write(self._contents[number])

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
    await sending.end()
