"""Serve a small language model on the loopback, until the process is ended or its time is over.

python -m assay.testing.language_server --weights rotary.safetensors --tokenizer tokenizer.json --port 8000 [--fault NAME]
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from assay.testing.language_server.app import TROUBLES, Settings, application
from assay.testing.language_server.faults import FAULTS


def main() -> None:
    """Reads the command line."""
    said = argparse.ArgumentParser(prog="python -m assay.testing.language_server", description=__doc__)
    said.add_argument("--weights", type=Path, required=True)
    said.add_argument("--tokenizer", type=Path, required=True)
    said.add_argument("--port", type=int, required=True)
    said.add_argument("--name", default="tiny")
    said.add_argument("--fault", action="append", default=[], choices=FAULTS, metavar="NAME", help=", ".join(FAULTS))
    said.add_argument("--trouble", action="append", default=[], choices=TROUBLES)
    said.add_argument("--batch", type=int, default=8, help="requests in one step, at most")
    said.add_argument("--delay", type=float, default=0.0, help="seconds that the first of a batch waits for others")
    said.add_argument("--step", type=float, default=0.0, help="seconds that each step takes longer")
    said.add_argument("--extra", type=float, default=0.0, help="share of each step that it works besides")
    said.add_argument("--draft", type=int, default=0, help="tokens that are guessed and verified in one step")
    said.add_argument("--leak", type=int, default=0, help="bytes that each request leaves behind")
    said.add_argument("--held", type=int, default=0, help="bytes that are held besides, as weights would be")
    said.add_argument("--for", type=float, default=3600.0, dest="seconds", help="seconds until it ends by itself")
    asked = said.parse_args()
    import uvicorn

    settings = Settings(
        asked.weights,
        asked.tokenizer,
        asked.name,
        frozenset(asked.fault),
        frozenset(asked.trouble),
        batch=asked.batch,
        delay_s=asked.delay,
        step_s=asked.step,
        extra=asked.extra,
        drafted=asked.draft,
        leak_bytes=asked.leak,
        held_bytes=asked.held,
    )
    server = uvicorn.Server(
        uvicorn.Config(application(settings), host="127.0.0.1", port=asked.port, log_level="critical", access_log=False)
    )
    end = threading.Timer(asked.seconds, lambda: setattr(server, "should_exit", True))
    end.daemon = True
    end.start()
    server.run()


if __name__ == "__main__":
    main()
