"""The client of `robot.py`, a process of its own: deliveries at a fixed rate over kept connections, latencies as JSON.

Bodies and signatures are made before the first is sent, and bytes go to sockets by hand, so that the client takes little
of the processor that the robot needs.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import sys
import time

CONNECTIONS = 8


async def fire(host: str, port: int, requests: list[bytes], rate: float) -> list[float]:
    """Seconds from the moment at which each was due to its answer."""
    taken: list[float] = []
    due: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
    start = time.perf_counter() + 0.5
    for number, request in enumerate(requests):
        due.put_nowait((start + number / rate, request))

    async def one_connection() -> None:
        reader, writer = await asyncio.open_connection(host, port)
        while not due.empty():
            at, request = due.get_nowait()
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await reader.readexactly(length)
            taken.append(time.perf_counter() - at)
            assert b" 202 " in head.splitlines()[0], head
        writer.close()

    await asyncio.gather(*(one_connection() for _ in range(CONNECTIONS)))
    return taken


def main() -> None:
    host, port, name, secret, rate, seconds = sys.argv[1:]
    requests = [made(name, number, secret) for number in range(int(float(rate) * float(seconds)))]
    print(json.dumps(asyncio.run(fire(host, int(port), requests, float(rate)))))


def made(name: str, number: int, secret: str, *, numbers: int = 20) -> bytes:
    """A push makes the robot look everywhere; for a request that is not there it asks the forge."""
    event = {"delivery": number, "pull_request": {"number": 1_000_000 + number % numbers}, "name": name}
    body = json.dumps({**event, "padding": "x" * 20_000}).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    head = (
        f"POST /hooks/github HTTP/1.1\r\nHost: robot\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        f"X-Hub-Signature-256: sha256={signature}\r\nX-GitHub-Delivery: {name}-{number}\r\n"
        f"X-GitHub-Event: {'push' if name == 'begin' else 'pull_request'}\r\n\r\n"
    )
    return head.encode() + body


if __name__ == "__main__":
    main()
