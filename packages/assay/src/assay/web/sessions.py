"""Values that belong to a browser for a while: it holds a word that cannot be guessed, they stay here."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Sessions(Generic[Value]):
    """The oldest go first where there are more than `most`."""

    def __init__(self, seconds: float, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.seconds = seconds
        self._most, self._clock = most, clock
        self._kept: OrderedDict[str, tuple[float, Value]] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, value: Value) -> str:
        """The word for it, new each time."""
        word = secrets.token_urlsafe(32)
        with self._lock:
            self._kept[word] = (self._clock() + self.seconds, value)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return word

    def get(self, word: str) -> Value | None:
        """None for what is unknown or over."""
        with self._lock:
            entry = self._kept.get(word)
            if entry is not None and entry[0] <= self._clock():
                del self._kept[word]
                entry = None
        return entry[1] if entry else None

    def take(self, word: str) -> Value | None:
        """Once: the word is good for nothing afterwards."""
        with self._lock:
            entry = self._kept.pop(word, None)
            return entry[1] if entry is not None and self._clock() < entry[0] else None
