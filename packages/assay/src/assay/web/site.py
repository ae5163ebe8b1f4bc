"""What every page is made from: the history, where it lies, and what was computed a moment ago."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

from assay.ports import Browsable, Store

Value = TypeVar("Value")
AT_ONCE = 4
"""Pages that are made side by side: threads share one interpreter, and the more there are, the longer each waits for it between two rows
of what it reads."""


class BrowsableStore(Store, Browsable, Protocol):
    """A history that has both."""


class Cache:
    """Values that are good for some seconds. Of many that ask for one at once, one computes it. The oldest go first."""

    def __init__(self, seconds: float, most: int = 64) -> None:
        self._seconds, self._most = seconds, most
        self._known: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._locks: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """`make` may raise: then nothing is kept."""
        with self._lock:
            own = self._locks.setdefault(key, threading.Lock())
        with own:
            found = self._known.get(key)
            if found is None or time.monotonic() - found[0] > self._seconds:
                try:
                    found = (time.monotonic(), make())
                except BaseException:
                    with self._lock:
                        self._locks.pop(key, None)
                    raise
                self._put(key, found)
        value: Value = found[1]
        return value

    def _put(self, key: Hashable, found: tuple[float, Any]) -> None:
        with self._lock:
            self._known[key] = found
            self._known.move_to_end(key)
            while len(self._known) > self._most:
                gone, _ = self._known.popitem(last=False)
                self._locks.pop(gone, None)


@dataclass(frozen=True)
class Site:
    """`folder` is the history's on this machine. `answers` are whole pages by their address, `moving` keeps what changes with every run,
    `minutes` what takes long to read, `settled` what never changes again, `cells` the history of some cells."""

    store: BrowsableStore
    folder: Path
    title: str = "Assay"
    answers: Cache = field(default_factory=lambda: Cache(1.0, most=64))
    moving: Cache = field(default_factory=lambda: Cache(1.0))
    minutes: Cache = field(default_factory=lambda: Cache(60.0))
    settled: Cache = field(default_factory=lambda: Cache(3600.0, most=16))
    cells: Cache = field(default_factory=lambda: Cache(3600.0, most=24))
    few: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
