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

from assay.core.note import Note, noted
from assay.core.refusals.endpoint_codes import EndpointCode
from assay.endpoints.connection_deadline import TimelyConnection, TimelyTlsConnection
from assay.endpoints.readable import json_value
from assay.errors import AssayError, EndpointBroke, EndpointFailed, UsageError

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
    odd = next((at for at, character in enumerate(key) if not character.isprintable() or ord(character) > 0xFF), None)
    if odd is not None:
        raise UsageError(noted(EndpointCode.KEY_CHARACTER, character=odd + 1))
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
            raise UsageError(noted(EndpointCode.NO_SERVICE_ADDRESS, address=address))
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
        count = 0
        try:
            for line in self._lines(response):
                if line.startswith(b"data:"):
                    if line[5:].strip() == b"[DONE]":
                        return
                    count += 1
                    if count > most:
                        return
                    yield self._read(line[5:])
            raise EndpointBroke(noted(EndpointCode.STREAM_CUT, address=self.address, events=count))
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
                    raise EndpointBroke(noted(EndpointCode.ANSWER_TOO_LARGE, address=self.address, most=LARGEST_BYTES))
                yield part

    def _parsed(self, response: http.client.HTTPResponse) -> Any:
        try:
            return self._read(b"".join(self._chunks(response)))
        except (EndpointFailed, EndpointBroke):
            self._close()
            raise

    def _read(self, content: bytes) -> Any:
        try:
            value = json_value(content)
        except ValueError:
            hidden = without_key(content.decode("latin-1"), self._key).encode("latin-1")
            raise EndpointBroke(
                noted(EndpointCode.ANSWER_NO_JSON, address=self.address, answer=repr(hidden[:60]))
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
        raise EndpointFailed(
            noted(
                EndpointCode.BUSY,
                address=self.address,
                tries=attempt,
                status=response.status,
                reason=reason,
            )
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
                raise EndpointFailed(certificate_trouble(self.address, error)) from None
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
            return UsageError(noted(EndpointCode.KEY_REFUSED, address=self.address, status=status, reason=reason))
        address = f"{self.address}{path}"
        if status in _REFUSED:
            return UsageError(noted(EndpointCode.REQUEST_REFUSED, address=address, status=status, reason=reason))
        return EndpointBroke(noted(EndpointCode.REQUEST_FAILED, address=address, status=status, reason=reason))

    def _late(self) -> EndpointFailed:
        return EndpointFailed(noted(EndpointCode.ANSWER_LATE, address=self.address, seconds=self._timeout_s), late=True)

    def _broke(self, error: Exception) -> Exception:
        note = error.note if isinstance(error, AssayError) else None
        reason = note or without_key(" ".join(str(error).split()), self._key) or type(error).__name__
        if self._answered:
            return EndpointBroke(
                noted(
                    EndpointCode.WENT_AWAY,
                    address=self.address,
                    answers=self._answered,
                    error=reason,
                )
            )
        return EndpointFailed(
            noted(
                EndpointCode.NO_TLS if isinstance(error, ssl.SSLError) else EndpointCode.NOTHING_ANSWERS,
                address=self.address,
                error=reason,
            )
        )


def certificate_trouble(address: str, error: ssl.SSLCertVerificationError) -> Note:
    """What is wrong with the certificate of that address: by OpenSSL's code (X509_V_ERR_*), and in its words."""
    return noted(
        EndpointCode.CERTIFICATE,
        address=address,
        code=error.verify_code,
        error=error.verify_message.rstrip("."),
    )


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
    document: Any = None
    with suppress(ValueError):
        document = json_value(content)
    if isinstance(document, dict):
        document = document.get("error", document.get("detail"))
    if isinstance(document, dict):
        document = document.get("message")
    return document if isinstance(document, str) else content.decode(errors="replace")


def _wait_s(response: http.client.HTTPResponse) -> float:
    """Where it names no number, as with a date, a moment."""
    with suppress(ValueError):
        if (seconds := float(response.getheader("Retry-After") or "")) >= 0.0:
            return seconds
    return 0.2
