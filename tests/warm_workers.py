"""Workers of the tests are forked from processes that have imported what nearly all need: to import it takes most of the time of a
command that checks a small model.

Only those that would be started alike: from this interpreter, with the same variables. What starts a process for each job, and what a
worker does when it imports, is tested in `tests/ports/launch` without this.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.launch.forked_workers import ForkServer
from assay.launch.prefork import Preforked
from assay.launch.supervisor import Supervisor
from warm_worker import BEFORE_WORKERS

PROGRAM = Path(__file__).with_name("warm_worker.py")
MOST = 5
"""Servers that stay for the next launch; each holds what it has imported."""
PLAIN = 2
"""Workers of a kind that start as ever where a server did not do. A server costs little more than one of them: none starts so before."""
OF_DRIVERS = ("PYTEST_", "TEAM_URL", "CHAT", "COLUMNS", "ORT_LIB_PATH", "OPENVINO_LIB_PATH")
"""How the names of variables begin that no worker reads; the last two are set by libraries that a test has imported."""
_Kind = tuple[str, frozenset[tuple[str, str]]]


class WarmWorkers(Preforked):
    """One server for each kind of worker that was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._servers: dict[_Kind, ForkServer] = {}
        self._plain: Counter[_Kind] = Counter()
        self._last: _Kind | None = None

    def server(self, program: str, variables: Mapping[str, str], backend: str) -> ForkServer | None:
        if program != sys.executable or threading.current_thread() is not threading.main_thread():
            return None
        same = {name: text for name, text in variables.items() if not name.startswith(OF_DRIVERS)}
        if (first := Path.cwd() / BEFORE_WORKERS).is_dir() and same.pop("PYTHONPATH", "") != str(first):
            return None  # the code is there, and is not to be run any more
        kind = (libraries(backend), frozenset(same.items()))
        if self._plain[kind] > 0:
            self._plain[kind] -= 1
            return None
        self._last = kind
        server = self._servers.pop(kind, None)
        if server is not None and server.is_gone:
            server.end()
            server = None
        if server is None:
            server = ForkServer((), same, (str(PROGRAM), kind[0]))
        self._servers[kind] = server  # the last one used is the last
        return server

    def give_up(self) -> None:
        """The last one that was asked did not do: another is started after some workers without."""
        if self._last in self._servers:
            self._servers.pop(self._last).end()
        self._plain[self._last] = PLAIN  # type: ignore[index]

    def end(self, most: int = 0) -> None:
        """Those that were not used for the longest, until there are no more than `most`."""
        while len(self._servers) > most:
            self._servers.pop(next(iter(self._servers))).end()


def libraries(backend: str) -> str:
    """What takes more than a second to import, and leaves no thread."""
    return backend if backend in ("torch", "executorch", "tvm") else ""


WARM = WarmWorkers()
_OWNER = os.getpid()


@atexit.register
def _end() -> None:
    if os.getpid() == _OWNER:
        WARM.end()


_BEGIN = Preforked.__init__


def begin_for_screens(self: Preforked, flows: Sequence[str] = (), modules: Sequence[str] = ()) -> None:
    """Without a server of its own, but for a command that names modules which only its workers need."""
    _BEGIN(self, flows if modules else (), modules)


def supervisor(**given: Any) -> Supervisor:
    """As a pool asks for one."""
    WARM.end(MOST)  # no worker is at work between two launches
    own = given.get("preforked")
    given["preforked"] = (
        own if own and own.has_server else WARM
    )  # also for measuring: what is forked for one job is as fresh
    return Supervisor(**given)
