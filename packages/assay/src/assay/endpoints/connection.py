"""One address, spoken to by HTTP: limits on time and size, and one sentence for whatever goes wrong."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, urlsplit

from assay.endpoints.deadline import TimelyConnection, TimelyTlsConnection
from assay.endpoints.readable import json_value
from assay.errors import EndpointBroke, EndpointFailed, UsageError

LARGEST_BYTES = 1 << 30
"""Of one answer."""
_PART_BYTES = 1 << 16
_LONGEST_REFUSAL_BYTES = 1 << 20
_BUSY = (429, 502, 503, 504)
_TRIES, _LONGEST_WAIT_S = 5, 2.0
_REFUSED = (400, 404, 413, 422)
KEY = "ASSAY_ENDPOINT_KEY"
"""The variable that holds the key of a service: it is no option, so that no report shows it."""
_SHORTEST_SECRET = 4


def endpoint_key() -> str:
    """The key, without the spaces and line ends around it; "" for none. Raises UsageError, which does not show it, where no HTTP
    header can carry it."""
    key = os.environ.get(KEY, "").strip()
    odd = next((at for at, one in enumerate(key) if not one.isprintable() or ord(one) > 0xFF), None)
    if odd is not None:
        raise UsageError(f"character {odd + 1} of {KEY} cannot be sent in an HTTP header: put the key alone into it")
    return key


def without_key(text: str, key: str) -> str:
    """What a server said, its words of the key replaced. A key of few letters is no secret, and is in many words."""
    return text.replace(key, "(key)") if len(key) >= _SHORTEST_SECRET else text


class Connection:
    """Requests to `address`, from any thread; each thread keeps a connection of its own. `key` is sent as a bearer token.

    From a request to the end of its answer, tries of a busy service included, it is `timeout_s` at most.
    """

    def __init__(self, address: str, *, timeout_s: float = 30.0, key: str = "") -> None:
        self._opened_all: list[TimelyConnection] = []
        if (parts := _parts_of(address)) is None:
            raise UsageError(f"{address!r} is no address of a service; give one such as http://127.0.0.1:8000/v1")
        self.address, self._parts, self._timeout_s = address.rstrip("/"), parts, timeout_s
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        self._key = key
        self._own = threading.local()
        self._answered = 0

    def close(self) -> None:
        """All that is open; the next request opens again."""
        while self._opened_all:
            self._opened_all.pop().close()

    def __del__(self) -> None:
        self.close()

    def get(self, path: str) -> Any:
        """The JSON that lies there."""
        return self._parsed(self._asked("GET", path, None))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that answers `body`."""
        return self._parsed(self._asked("POST", path, body))

    def stream(self, path: str, body: Mapping[str, Any], most: int) -> Iterator[Any]:
        """The events that answer `body`, at most `most` of them. Raises EndpointBroke where they end without "[DONE]"."""
        response = self._asked("POST", path, body)
        seen = 0
        try:
            for line in self._lines(response):
                if line.startswith(b"data:"):
                    if line[5:].strip() == b"[DONE]":
                        return
                    seen += 1
                    if seen > most:
                        return
                    yield self._read(line[5:])
            raise EndpointBroke(
                f"{self.address}: the stream ended after {seen} events, without its end: it was cut off"
            )
        finally:
            self._close()

    def _lines(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        left = b""
        for part in self._chunks(response):
            *lines, left = (left + part).split(b"\n")
            yield from (line.strip() for line in lines)
        yield left.strip()

    def _chunks(self, response: http.client.HTTPResponse) -> Iterator[bytes]:
        """What it sends, until it has sent all."""
        size = 0
        with response:  # the connection serves the next request once its answer is closed
            while True:
                try:
                    part = response.read1(_PART_BYTES)
                    if not part and response.length:
                        raise http.client.IncompleteRead(bytes(size), response.length)
                except TimeoutError:
                    raise self._late() from None
                except (OSError, http.client.HTTPException) as error:
                    raise self._broke(error) from None
                if not part:
                    return
                size += len(part)
                if size > LARGEST_BYTES:
                    raise EndpointBroke(
                        f"{self.address} answered more than {LARGEST_BYTES:,} bytes: does it come to an end?"
                    )
                yield part

    def _parsed(self, response: http.client.HTTPResponse) -> Any:
        try:
            content = b"".join(self._chunks(response))
        except (EndpointFailed, EndpointBroke):
            self._close()
            raise
        return self._read(content)

    def _read(self, content: bytes) -> Any:
        try:
            value = json_value(content)
        except ValueError:
            said = without_key(content.decode("latin-1"), self._key).encode("latin-1")
            raise EndpointBroke(
                f"{self.address} answered {said[:60]!r}, which is not JSON: is it a service of this kind?"
            ) from None
        self._answered += 1
        return value

    def _asked(self, method: str, path: str, body: Mapping[str, Any] | None) -> http.client.HTTPResponse:
        """An answer with a good status. Where the service is busy it is asked again, a few times."""
        content, until = None if body is None else json.dumps(body).encode(), time.monotonic() + self._timeout_s
        for attempt in range(1, _TRIES + 1):
            response = self._sent(method, path, content, until)
            if response.status < 300:
                return response
            reason = self._refusal(response)
            if response.status not in _BUSY:
                raise self._refused(response.status, reason, path)
            wait_s, left_s = min(_wait_s(response), _LONGEST_WAIT_S), until - time.monotonic()
            if left_s <= 0.0:
                raise self._late()
            if attempt == _TRIES or wait_s >= left_s:
                break
            time.sleep(wait_s)
        times = "once" if attempt == 1 else f"{attempt} times"
        raise EndpointFailed(
            f"{self.address} was busy {times} (status {response.status}: {reason}): ask it again when it has room"
        )

    def _sent(self, method: str, path: str, content: bytes | None, until: float) -> http.client.HTTPResponse:
        for fresh in (False, True):
            connection = self._opened(fresh=fresh)
            connection.until = until
            kept = connection.sock is not None
            try:
                connection.request(method, self._parts.path.rstrip("/") + path, content, self._headers)
                return connection.getresponse()
            except ssl.SSLCertVerificationError as error:
                raise EndpointFailed(f"{self.address}: {certificate_trouble(error)}") from None
            except TimeoutError:
                self._close()
                raise self._late() from None
            except (OSError, http.client.HTTPException) as error:
                self._close()
                if kept and not fresh:
                    continue  # a kept connection may have been closed by the other side
                raise self._broke(error) from None
        raise AssertionError

    def _opened(self, *, fresh: bool) -> TimelyConnection:
        if fresh or getattr(self._own, "connection", None) is None:
            kind = TimelyTlsConnection if self._parts.scheme == "https" else TimelyConnection
            self._own.connection = kind(str(self._parts.hostname), self._parts.port)
            self._opened_all.append(self._own.connection)
        connection: TimelyConnection = self._own.connection
        return connection

    def _close(self) -> None:
        connection = getattr(self._own, "connection", None)
        self._own.connection = None
        if connection is not None:
            connection.close()

    def _refusal(self, response: http.client.HTTPResponse) -> str:
        """What it says of it, as far as it comes. The connection is not used again: more of the answer may follow."""
        content = b""
        with suppress(EndpointFailed, EndpointBroke):
            for part in self._chunks(response):
                content += part
                if len(content) > _LONGEST_REFUSAL_BYTES:
                    break
        self._close()
        return without_key(" ".join(_reason_in(content).split()), self._key)[:300]

    def _refused(self, status: int, reason: str, path: str) -> Exception:
        if status in (401, 403):
            return UsageError(f"{self.address} does not let us in (status {status}: {reason}): put its key into {KEY}")
        if status in _REFUSED:
            return UsageError(f"{self.address}{path} refuses the request (status {status}): {reason}")
        return EndpointBroke(f"{self.address}{path} failed (status {status}): {reason}")

    def _late(self) -> EndpointFailed:
        return EndpointFailed(
            f"{self.address} did not answer in {self._timeout_s:g} s: it hangs, or give it more with --option timeout_s=SECONDS",
            late=True,
        )

    def _broke(self, error: Exception) -> Exception:
        reason = without_key(" ".join(str(error).split()), self._key) or type(error).__name__
        if self._answered:
            return EndpointBroke(
                f"{self.address} went away after {self._answered} answers ({reason}): read the log of the service"
            )
        if isinstance(error, ssl.SSLError):
            return EndpointFailed(f"{self.address} does not speak TLS ({reason}): is it an address of http://?")
        return EndpointFailed(
            f"nothing answers at {self.address} ({reason}): start the service, or correct its address"
        )


def certificate_trouble(error: ssl.SSLCertVerificationError) -> str:
    """What is wrong with a certificate, and what to do."""
    what, then = _CERTIFICATES.get(
        error.verify_code, ("is not trusted", "name the file of its authority in SSL_CERT_FILE")
    )
    return f"its certificate {what} ({error.verify_message.rstrip('.')}): {then}"


_OTHER_HOST = ("is for another host", "ask for the service by the name that it is made out to")
_CERTIFICATES = {
    9: ("is not valid yet", "set the clock of this machine, or have another made"),
    10: ("has expired", "have it renewed"),
    23: ("was revoked", "have another made"),
    62: _OTHER_HOST,
    64: _OTHER_HOST,
}
"""By OpenSSL's code (X509_V_ERR_*)."""


def _parts_of(address: str) -> SplitResult | None:
    """None where it is no address."""
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is none
        return None
    return parts if good else None


def _reason_in(content: bytes) -> str:
    """The message of the error where there is one, or else all of it."""
    said: Any = None
    with suppress(ValueError):
        said = json_value(content)
    if isinstance(said, dict):
        said = said.get("error", said.get("detail"))
    if isinstance(said, dict):
        said = said.get("message")
    return said if isinstance(said, str) else content.decode(errors="replace")


def _wait_s(response: http.client.HTTPResponse) -> float:
    """Where it names no number, as with a date, a moment."""
    with suppress(ValueError):
        if (said := float(response.getheader("Retry-After") or "")) >= 0.0:
            return said
    return 0.2
