"""Worker processes started before it is known what they will do: they import their libraries while the driver does."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import TracebackType

from assay.launch.process import WorkerProcess


def most_workers(wanted: int) -> int:
    """`wanted`, where that is any number; else one per core, eight at most."""
    return wanted or min(os.cpu_count() or 1, 8)


class Ahead:
    """`count` workers of the driver's own interpreter. A context manager: those that nobody took end with it."""

    def __init__(self, count: int) -> None:
        self._variables = dict(os.environ)
        self._idle = [WorkerProcess(sys.executable, self._variables) for _ in range(count)]

    def take(self, program: str, variables: Mapping[str, str]) -> WorkerProcess | None:
        """One that was started just so, and is the taker's from now on."""
        if not self._idle or program != sys.executable or variables != self._variables:
            return None
        return self._idle.pop(0)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._idle:
            self._idle.pop().end()
