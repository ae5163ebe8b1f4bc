"""Names of hosts, looked up within a limit: the system's own is half a minute where no server of names answers, and knows no end before."""

from __future__ import annotations

import queue
import socket
import threading
from typing import Any

from assay.core.note import noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.errors import AssayError


class Late(AssayError, TimeoutError):
    """A limit of our own was met."""


class NoAddress(AssayError, OSError):
    """Nothing can be connected to by this name."""


Addresses = list[tuple[Any, Any, int, str, Any]]
"""As socket.getaddrinfo gives them."""


def looked_up(host: str, port: int, seconds: float) -> Addresses:
    """Where to connect to, the best first. Raises OSError where nobody knows, and TimeoutError, which is one, where that takes longer."""
    addresses: queue.SimpleQueue[Addresses | OSError] = queue.SimpleQueue()

    def look() -> None:
        try:
            addresses.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as error:
            addresses.put(error)
        except UnicodeError:
            addresses.put(NoAddress(noted(EndpointCode.NO_HOST_NAME, host=host)))

    threading.Thread(target=look, daemon=True).start()
    try:
        answer = addresses.get(timeout=seconds)
    except queue.Empty:
        raise Late(noted(EndpointCode.LOOKED_UP_LATE, host=host, seconds=seconds)) from None
    if isinstance(answer, OSError):
        raise answer
    return answer
