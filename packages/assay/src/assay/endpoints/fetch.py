"""What lies at an address, asked for once and within a limit: health and gauges of services."""

from __future__ import annotations

import time
from contextlib import closing
from urllib.parse import urljoin, urlsplit

from assay.endpoints.connection import endpoint_key
from assay.endpoints.connection_deadline import TimelyConnection, TimelyTlsConnection

_REDIRECTS = 3


def fetched(address: str, seconds: float, most: int = 0) -> tuple[int, bytes]:
    """The status, and at most `most` bytes. The key goes to this address, and to none that it redirects to. Raises OSError (TimeoutError is
    one), http.client.HTTPException, and ValueError for what is no address."""
    until, key = time.monotonic() + seconds, endpoint_key()
    for _ in range(_REDIRECTS + 1):
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is no address")
        kind = TimelyTlsConnection if parts.scheme == "https" else TimelyConnection
        with closing(kind(parts.hostname, parts.port)) as connection:
            connection.until = until
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}"} if key else {})
            answer = connection.getresponse()
            onward = answer.getheader("Location") if 300 <= answer.status < 400 else None
            if onward is None:
                return answer.status, answer.read(most)
        address, key = urljoin(address, onward), ""
    raise OSError(f"it redirects more than {_REDIRECTS} times")
