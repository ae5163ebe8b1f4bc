"""What a process has denied itself, and can never have back: system calls, files, the network, rights.

Its filters and rights stand in /proc/self/status. Landlock stands nowhere: what it may deny is tried, in ways that change nothing.
"""

from __future__ import annotations

import errno
import os
from importlib import import_module
from typing import Any

_native_socket: Any = import_module("_socket")
"""Without the class of `socket`, which takes a microsecond."""
_OWNER, _OWNER_END = b"\nUid:", b"\nFDSize:"
_RIGHTS, _RIGHTS_END = b"\nCapInh:", b"\nCpus_allowed:"
"""Of proc_pid_status(5): its user and groups; its capabilities, no_new_privs and the number of its filters."""
_NOWHERE = ("192.0.2.1", 0)
"""An address that no machine has (RFC 5737): a ban comes before the usual answer."""
_NO_BAN = (errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL)
"""No file can be opened any more, which is seen elsewhere; and that usual answer."""


def restrictions(status: bytes) -> tuple[object, ...]:
    """`status` is the text of /proc/self/status."""
    owner, rights = status.find(_OWNER), status.find(_RIGHTS)
    return (
        status[owner : status.find(_OWNER_END, owner)],
        status[rights : status.find(_RIGHTS_END, rights)],
        _opened("/", os.O_RDONLY | os.O_DIRECTORY),
        _opened("/dev/null", os.O_WRONLY),
        _bound(),
    )


def _opened(path: str, flags: int) -> int:
    try:
        os.close(os.open(path, flags))
    except OSError as error:
        return _ban(error)
    return 0


def _bound() -> int:
    try:
        tried = _native_socket.socket(_native_socket.AF_INET, _native_socket.SOCK_STREAM)
    except OSError as error:
        return _ban(error)
    try:
        tried.bind(_NOWHERE)
    except OSError as error:
        return _ban(error)
    finally:
        tried.close()
    return 0


def _ban(error: OSError) -> int:
    """The number of the error; 0 where it says nothing."""
    return 0 if error.errno in _NO_BAN else error.errno or -1
