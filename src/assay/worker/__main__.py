"""`python -m assay.worker FD`: serve jobs on an inherited socket until it closes."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import signal
import socket
import sys

PR_SET_PDEATHSIG = 1


def _die_with_parent(parent: int) -> None:
    """A worker that hangs in native code must not outlive a driver that was killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)


def main() -> None:
    _die_with_parent(int(sys.argv[2]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    faulthandler.enable()
    from assay.models.importing import own_process
    from assay.worker.serve import serve

    own_process()
    serve(socket.socket(fileno=int(sys.argv[1])))


if __name__ == "__main__":
    main()
