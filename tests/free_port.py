"""Ports for servers that cannot choose their own."""

from __future__ import annotations

import socket

_HELD: list[socket.socket] = []


def free_port(address: str = "127.0.0.1") -> int:
    """One on which nobody listens. It is nobody else's as long as this process lives, and who sets SO_REUSEADDR, as servers do, may
    listen there: of a port that was only looked for, another test may be the next owner."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((address, 0))
    _HELD.append(held)
    return int(held.getsockname()[1])
