"""What a process has denied itself, and can never have back: system calls, files, the network, rights.

Its filters and rights stand in /proc/self/status. Landlock stands nowhere: what it may deny is tried, in ways that change nothing.
"""

from __future__ import annotations

import os
import socket
import weakref

_OWNER, _OWNER_END = b"\nUid:", b"\nFDSize:"
_RIGHTS, _RIGHTS_END = b"\nCapInh:", b"\nCpus_allowed:"
"""Of proc_pid_status(5): its user and groups; its capabilities, no_new_privs and the number of its filters."""
_NOWHERE = ("192.0.2.1", 9)
"""An address that no machine has (RFC 5737): to be refused it is the usual answer, and a ban comes before it."""


class Restrictions:
    """Open files and a socket, to be made before what is open is noted."""

    def __init__(self) -> None:
        try:
            self._socket: socket.socket | None = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            weakref.finalize(self, self._socket.close)
        except OSError:
            self._socket = None

    def read(self, status: bytes) -> tuple[object, ...]:
        """`status` is the text of /proc/self/status."""
        owner, rights = status.find(_OWNER), status.find(_RIGHTS)
        return (
            status[owner : status.find(_OWNER_END, owner)],
            status[rights : status.find(_RIGHTS_END, rights)],
            _opened("/", os.O_RDONLY | os.O_DIRECTORY),
            _opened("/dev/null", os.O_WRONLY),
            self._bound(),
        )

    def _bound(self) -> int:
        if self._socket is not None:
            try:
                self._socket.bind(_NOWHERE)
            except OSError as error:
                return error.errno or -1
        return 0


def _opened(path: str, flags: int) -> int:
    """0, or the number of the error."""
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        return error.errno or -1
    return 0
