"""What the load generator of `assay load` takes itself, and how well it keeps its schedule, beside a server that answers at once.

python benchmarks/load_generator.py [--rate 200] [--seconds 10] [--tokens 8]

The server is a process of its own; lateness needs a quiet machine, processor time does not.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
from multiprocessing.connection import Connection

import numpy as np

from assay.serving.arrivals import arrivals
from assay.serving.load_generator import generate
from assay.serving.load_summary import summarize
from assay.serving.requests import Mix

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
TOKEN = b'data: {"choices": [{"text": "a"}]}\n\n'
DONE = b"data: [DONE]\n\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def serve(tokens: int, told: Connection) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"}"):
                writer.write(HEAD)
                for _ in range(tokens):
                    writer.write(chunk(TOKEN))
                    await asyncio.sleep(0.005)  # so that each token is a packet of its own
                writer.write(chunk(DONE) + b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def main() -> None:
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--rate", type=float, default=200.0)
    said.add_argument("--seconds", type=float, default=10.0)
    said.add_argument("--tokens", type=int, default=8)
    asked = said.parse_args()
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.Process(target=serve, args=(asked.tokens, theirs), daemon=True)
    child.start()
    mix = Mix(f"http://127.0.0.1:{ours.recv()}/v1", "tiny", [list(range(64))], (asked.tokens,))
    load = generate(mix, arrivals("poisson", asked.rate, asked.seconds))
    late = np.array([request.sent - request.due for request in load.requests if request.sent >= 0])
    metrics = summarize(load).metrics
    print(
        f"{asked.rate:g} requests a second of {asked.tokens} tokens: {100 * metrics['sender_cpu_share']:.2f} % of a core; late p50 "
        f"{1e3 * np.quantile(late, 0.5):.3f} ms, p90 {1e3 * np.quantile(late, 0.9):.3f} ms, p99 {1e3 * np.quantile(late, 0.99):.3f} ms; "
        f"{metrics['errors']:.0f} errors of {metrics['requests']:.0f}; load average {os.getloadavg()[0]:.1f}"
    )
    child.terminate()


if __name__ == "__main__":
    main()
