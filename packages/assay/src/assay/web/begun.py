"""A sign-in that was begun, kept by the browser alone: encrypted, with the time at which it is over. No place here runs out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import msgspec
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

_HOW = {"alg": "dir", "enc": "A256GCM"}


class _Kept(msgspec.Struct):
    until: float
    values: dict[str, Any]


class Begun:
    """The key is made again with each: what another process began is unknown."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._clock, self._key = clock, OctKey.generate_key(256)

    def closed(self, values: dict[str, Any]) -> str:
        """For a cookie."""
        kept = _Kept(self._clock() + self.seconds, values)
        return jwe.encrypt_compact(_HOW, msgspec.json.encode(kept), self._key)

    def opened(self, word: str) -> dict[str, Any] | None:
        """None for what is not of this process, was changed, or is over."""
        try:
            plain = jwe.decrypt_compact(word, self._key, algorithms=list(_HOW.values())).plaintext
            kept = msgspec.json.decode(plain or b"", type=_Kept)
        except (JoseError, ValueError):
            return None
        return kept.values if self._clock() < kept.until else None
