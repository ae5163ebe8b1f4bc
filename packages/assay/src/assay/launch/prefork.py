"""What workers need is imported before it is known what they will do: while the driver imports what it needs itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from assay.core.environment import SEPARATOR
from assay.errors import HarnessError, UnknownName
from assay.launch.forked_workers import ForkServer


def most_workers(workers: int) -> int:
    """`workers`, where that is any number; else one per core that this process may use, eight at most."""
    return workers or min(_cores(), 8)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Preforked:
    """A fork server of the driver's own interpreter for workers of these flows, but for those in an environment; without flows there is
    none. `modules` are imported there, too. A context manager: the server and whatever was forked from it end with it."""

    def __init__(self, flows: Sequence[str] = (), modules: Sequence[str] = ()) -> None:
        self._flows = tuple(name for name in flows if SEPARATOR not in name)
        self._variables = dict(os.environ)
        self._server = ForkServer(self._flows, self._variables, modules=modules) if self._flows else None

    @property
    def has_server(self) -> bool:
        return self._server is not None

    def server(self, program: str, variables: Mapping[str, str], backend: str) -> ForkServer | None:
        """For a worker that would be started just so, for that backend."""
        if self._server is None or program != sys.executable or variables != self._variables:
            return None
        return self._server if backend in self._backends() else None

    def give_up(self) -> None:
        """A worker did not come of it: no other is asked for."""
        self._flows = ()

    def _backends(self) -> set[str]:
        from assay import plugins

        backends: set[str] = set()
        for name in self._flows:
            with suppress(HarnessError, UnknownName):  # not known on this machine, as the job itself will say
                backends.add(plugins.find_flow(name).backend)
        return backends

    def __enter__(self) -> Preforked:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.end()
            self._server = None
