"""A connection that never says what it wants is closed: uvicorn has a timer between requests alone, and any byte ends it."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 15.0
"""From the connection, or the answer before, to the end of the head of a request."""


class HeadDeadline(H11Protocol):
    """Slow heads cannot take all the connections that the server has."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._deadline is not None:
            self._deadline.cancel()

    def on_response_complete(self) -> None:
        # Before uvicorn goes on with a request that came in the meantime.
        self._await_request()
        super().on_response_complete()

    def _await_request(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(HEAD_S, self._close_unless_asked)

    def _close_unless_asked(self) -> None:
        """While an answer is on its way, the end of that answer starts the time again."""
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
