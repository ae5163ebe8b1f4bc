"""Whether the head of a cluster is there: Ray itself tries for minutes, and says so on the terminal."""

from __future__ import annotations

import socket

from assay.errors import UsageError

PATIENCE_S = 10.0


def demand_listening(address: str) -> None:
    """`address` is host:port; "" and what else Ray understands is left to Ray. Raises UsageError where nobody listens."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), PATIENCE_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"no Ray cluster at {address} ({error}): give --on ray://HOST:PORT as `ray start --head` prints it, and check that this "
            "machine reaches it"
        ) from None
