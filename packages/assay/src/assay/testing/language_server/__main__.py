"""Serve a small language model on the loopback, until the process is ended or its time is over.

python -m assay.testing.language_server --weights rotary.safetensors --tokenizer tokenizer.json --port 8000 [--fault NAME]
"""

from __future__ import annotations

import argparse
import threading
from pathlib import Path

from assay.testing.language_server.app import TROUBLES, Settings, application
from assay.testing.language_server.planted_faults import FAULTS


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="python -m assay.testing.language_server", description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--name", default="tiny")
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS, metavar="NAME", help=", ".join(FAULTS))
    parser.add_argument("--trouble", action="append", default=[], choices=TROUBLES)
    parser.add_argument("--batch", type=int, default=8, help="requests in one step, at most")
    parser.add_argument("--delay", type=float, default=0.0, help="seconds that the first of a batch waits for others")
    parser.add_argument("--step", type=float, default=0.0, help="seconds that each step takes longer")
    parser.add_argument("--extra", type=float, default=0.0, help="share of each step that it works besides")
    parser.add_argument("--draft", type=int, default=0, help="tokens that are guessed and verified in one step")
    parser.add_argument("--leak", type=int, default=0, help="bytes that each request leaves behind")
    parser.add_argument("--held", type=int, default=0, help="bytes that are held besides, as weights would be")
    parser.add_argument("--for", type=float, default=3600.0, dest="seconds", help="seconds until it ends by itself")
    arguments = parser.parse_args()
    import uvicorn

    settings = Settings(
        arguments.weights,
        arguments.tokenizer,
        arguments.name,
        frozenset(arguments.fault),
        frozenset(arguments.trouble),
        batch=arguments.batch,
        delay_s=arguments.delay,
        step_s=arguments.step,
        extra=arguments.extra,
        drafted=arguments.draft,
        leak_bytes=arguments.leak,
        held_bytes=arguments.held,
    )
    server = uvicorn.Server(
        uvicorn.Config(
            application(settings), host="127.0.0.1", port=arguments.port, log_level="critical", access_log=False
        )
    )
    end = threading.Timer(arguments.seconds, lambda: setattr(server, "should_exit", True))
    end.daemon = True
    end.start()
    server.run()


if __name__ == "__main__":
    main()
