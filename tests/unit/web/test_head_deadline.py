"""Who connects and does not say what is wanted is not waited for; who asks is answered, however long that takes."""

from __future__ import annotations

import asyncio

import pytest
import uvicorn

from assay.web import head_deadline
from assay.web.head_deadline import HeadDeadline

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


async def _app(scope, receive, send) -> None:  # type: ignore[no-untyped-def]
    await asyncio.sleep(1.5)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _talk(said: bytes) -> bytes:
    """What a server answers until it closes the connection, while a byte of a further head comes now and then."""
    server = uvicorn.Server(
        uvicorn.Config(_app, http=HeadDeadline, port=0, lifespan="off", log_config=None, access_log=False)
    )
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    reader, writer = await asyncio.open_connection(*server.servers[0].sockets[0].getsockname())

    async def drip() -> None:
        while True:
            writer.write(b"G")
            await asyncio.sleep(0.05)

    writer.write(said)
    answer = b"" if not said else await reader.readuntil(b"ok")
    dripping = asyncio.create_task(drip())
    try:
        return answer + await asyncio.wait_for(reader.read(), 30)
    except ConnectionResetError:
        return answer  # closed, too: while a byte was on its way
    finally:
        dripping.cancel()
        writer.close()
        server.should_exit = True
        await task


@pytest.mark.parametrize(("said", "answered"), [(b"", False), (ASK, True)])
def test_a_head_that_drips_is_given_up_and_a_slow_answer_is_not(
    monkeypatch: pytest.MonkeyPatch, said: bytes, answered: bool
) -> None:
    monkeypatch.setattr(head_deadline, "HEAD_S", 1.0)
    answer = asyncio.run(_talk(said))
    assert answer.endswith(b"ok") == answered
