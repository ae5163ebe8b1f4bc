"""`python -m assay.worker FD PARENT`: serve jobs on an inherited socket until it closes. With `--fork-server [module:MODULE...] [FLOW...]`
behind them: be forked into such workers (see `assay.worker.fork_server`)."""

from __future__ import annotations

import faulthandler
import os
import signal
import socket
import sys

from assay.errors import AssayError
from assay.worker.guard import guard
from assay.worker.process_ties import adopt_orphans, die_with_parent, end_before_others


def main() -> None:
    AssayError.words = str
    driver, forking = int(sys.argv[2]), bool(sys.argv[3:])
    die_with_parent(driver)
    end_before_others()
    if not forking:
        guard(driver)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    from assay.models.import_without_gc import import_without_gc, own_process

    own_process()
    with import_without_gc():
        from assay.models.telemetry import forbid_telemetry
        from assay.worker.serve import serve
    forbid_telemetry()
    connection: socket.socket | None = socket.socket(fileno=int(sys.argv[1]))
    if connection is not None:
        connection.set_inheritable(False)  # another program has no use for it
    if connection is not None and forking:
        from assay.worker.fork_server import serve_forks

        connection = serve_forks(connection, sys.argv[4:])
        if connection is not None:
            guard(driver, os.getppid())
    if connection is not None:
        adopt_orphans()
        serve(connection)


if __name__ == "__main__":
    main()
