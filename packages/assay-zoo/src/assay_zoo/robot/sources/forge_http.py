"""HTTP to a forge: tokens, pages, rate limits, and which failures are worth another try at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from assay_zoo.robot.sanitize import sanitize
from assay_zoo.robot.sources.source import SourceFailed

_TIMEOUT_S = 30.0
_PAUSES_S = (0.5, 1.0, 2.0)
_PATIENCE_S = 5.0
"""A rate limit that ends sooner is waited for; for a longer one the work is put off."""
_OF_TRANSFER = (b"content-encoding", b"content-length", b"transfer-encoding")
"""Headers that are true no more once an answer is unpacked."""
_UNTOLD_LIMIT_S = 60.0
"""What GitHub asks for where it names a limit and no time."""
_LONGEST_S = 86_400.0
"""Who says that more than a day must pass is asked again after a day."""
_PAGES_MOST = 200
_MOVED = (301, 302, 307, 308)
"""A repository was renamed or given away: the same request, whatever its method, belongs to the address that is named."""
_MOVES_MOST = 3
ANSWER_BYTES = 32_000_000
"""Of one answer, unpacked: a page of a hundred requests with long texts is a few."""


class ForgeHttp:
    """One forge. Of its `headers` one proves who we are.

    Only GET is repeated after a failure of the network or the forge: whatever else was sent may have been done, and who
    sends it looks first what is there already.
    """

    def __init__(
        self,
        base: str,
        headers: Mapping[str, str],
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._base = base.rstrip("/")
        self._sleep, self._now = sleep, now
        named = {"user-agent": "assay-zoo-robot", **headers}
        self._client = httpx.Client(timeout=_TIMEOUT_S, follow_redirects=False, headers=named)

    def end(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, **parameters: str | int) -> Any:
        return self.send("GET", path, parameters=parameters).json()

    def find(self, path: str) -> Any:
        """As `get`; None for what is not there."""
        answer = self.send("GET", path, allowed=(404,))
        return None if answer.status_code == 404 else answer.json()

    def pages(self, path: str, **parameters: str | int) -> Iterator[Any]:
        """The body of each page, following the Link header as long as it stays at this forge."""
        answer = self.send("GET", path, parameters={"per_page": 100, **parameters})
        for _ in range(_PAGES_MOST):
            yield answer.json()
            following = answer.links.get("next", {}).get("url", "")
            if not following:
                return
            answer = self.send("GET", self._here(following))

    def send(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        parameters: Mapping[str, str | int] | None = None,
        allowed: tuple[int, ...] = (),
    ) -> httpx.Response:
        """An answer of the 2xx, or one that is `allowed`. Raises SourceFailed."""
        address = path if path.startswith(("https://", "http://")) else self._base + path
        tries, moves = 0, 0
        while True:
            try:
                answer = self._answer(method, address, body, parameters)
            except httpx.HTTPError as error:
                if method != "GET" or tries >= len(_PAUSES_S):
                    raise SourceFailed(f"{self._base} cannot be reached ({type(error).__name__})") from None
                self._sleep(_PAUSES_S[tries])
                tries += 1
                continue
            if answer.is_success or answer.status_code in allowed:
                return answer
            if answer.status_code in _MOVED and moves < _MOVES_MOST and (where := answer.headers.get("location")):
                address, moves = self._here(urljoin(address, where)), moves + 1
                parameters = None if urlsplit(address).query else parameters
                continue
            pause = self._pause(answer, method, tries)
            if pause is None:
                raise SourceFailed(
                    f"{method} {urlsplit(address).path} was answered {answer.status_code}: {_message(answer)}"
                )
            self._sleep(pause)
            tries += 1

    def _answer(
        self, method: str, address: str, body: object, parameters: Mapping[str, str | int] | None
    ) -> httpx.Response:
        """Read to its end, which comes before ANSWER_BYTES. Raises SourceFailed, httpx.HTTPError."""
        asked = self._client.build_request(method, address, json=body, params=parameters or None)
        answer = self._client.send(asked, stream=True)
        read = bytearray()
        try:
            for part in answer.iter_bytes():
                read += part
                if len(read) > ANSWER_BYTES:
                    raise SourceFailed(
                        f"{self._base} answers with more than {ANSWER_BYTES} bytes: nothing of it is used"
                    )
        finally:
            answer.close()
        # As bytes: what is no ASCII cannot be given as text.
        kept = [(name, value) for name, value in answer.headers.raw if name.lower() not in _OF_TRANSFER]
        return httpx.Response(answer.status_code, headers=kept, content=bytes(read), request=asked)

    def _here(self, address: str) -> str:
        """An address that the forge names, where it is the forge's own: a token goes nowhere else."""
        if urlsplit(address)[:2] != urlsplit(self._base)[:2]:
            raise SourceFailed(f"{self._base} leads to another host: nothing is sent there")
        return address

    def _pause(self, answer: httpx.Response, method: str, tries: int) -> float | None:
        """Seconds to wait before the same again, None where it is of no use; raises where the wait is long."""
        limited = self._limited(answer)
        if limited is not None:
            if limited > _PATIENCE_S or tries >= len(_PAUSES_S):
                raise SourceFailed(f"{self._base} asks to wait {limited:.0f} s (rate limit)", after_s=limited)
            return limited
        if answer.status_code >= 500 and method == "GET" and tries < len(_PAUSES_S):
            return _PAUSES_S[tries]
        return None

    def _limited(self, answer: httpx.Response) -> float | None:
        if answer.status_code not in (403, 429):
            return None
        retry_after = answer.headers.get("retry-after", "")
        if retry_after.isdecimal():
            return min(float(retry_after), _LONGEST_S)
        reset = answer.headers.get("x-ratelimit-reset") or answer.headers.get("ratelimit-reset", "")
        left = answer.headers.get("x-ratelimit-remaining") or answer.headers.get("ratelimit-remaining", "")
        if reset.isdecimal() and left == "0":
            return min(max(float(reset) - self._now(), 1.0), _LONGEST_S)
        if answer.status_code == 429 or "rate limit" in answer.text.lower():
            return _UNTOLD_LIMIT_S
        return None


def _message(answer: httpx.Response) -> str:
    """The forge's own words; never a header, never what was sent."""
    try:
        content = answer.json()
    except ValueError:
        return sanitize(answer.text, 200)
    return sanitize(str(content.get("message", content)) if isinstance(content, dict) else str(content), 200)
