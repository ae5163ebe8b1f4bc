"""`python -m assay.worker FD PARENT`: serve jobs on an inherited socket until it closes. With `--fork-server [FLOW...]` behind them:
be forked into such workers (see `assay.worker.fork_server`)."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import socket
import sys

from assay.worker.guard import guard

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36


def die_with_parent(parent: int) -> None:
    """A worker that hangs in native code must not outlive a driver that was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def adopt_orphans() -> None:
    """Whatever descends from this process stays below it, also where its parent has ended: a daemon is found and ended with it."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main() -> None:
    driver, forking = int(sys.argv[2]), bool(sys.argv[3:])
    die_with_parent(driver)
    if not forking:
        guard(driver)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    from assay.models.import_without_gc import own_process
    from assay.worker.serve import serve

    own_process()
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
