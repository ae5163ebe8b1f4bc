"""Long-lived workers for verifying, and one fresh process per job for measuring and for suspects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from types import TracebackType

from assay.core.device import Gpu
from assay.core.environment import Interpreter
from assay.core.result import Result
from assay.errors import EnvironmentFailed
from assay.launch.idle import IdleWorkers
from assay.launch.leases import Leases
from assay.launch.prefork import Preforked, most_workers
from assay.launch.supervisor import Supervisor
from assay.launch.watch import Watch, unwatched
from assay.ports import JobSource

InterpreterOf = Callable[[str], Interpreter]
"""From the name of an environment ("": the driver's) to the Python of its workers. Raises EnvironmentFailed."""


def own_interpreter(environment: str) -> Interpreter:
    """The driver's. Raises EnvironmentFailed for any other: who launches must say where environments are."""
    if environment:
        raise EnvironmentFailed(f"no environments are known here, so {environment!r} is not either")
    return Interpreter(sys.executable)


class Pool:
    """Warm workers, each replaced after 100 jobs or any failure. Several share a GPU; several GPUs are used at once.

    As a context manager, idle workers wait for the next launch (see `assay.launch.idle`), and end with the context; else all end
    with their launch. `idle` are those that were started before.
    """

    def __init__(
        self,
        workers: int = 0,
        recycle: int = 100,
        interpreter: InterpreterOf = own_interpreter,
        gpus: Sequence[Gpu] = (),
        preforked: Preforked | None = None,
        watch: Watch = unwatched,
        idle: IdleWorkers | None = None,
    ) -> None:
        self._workers, self._watch = most_workers(workers), watch
        self._recycle, self._interpreter, self._gpus, self._preforked = recycle, interpreter, gpus, preforked
        self._idle = idle or IdleWorkers()

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """See `ports.Launcher`."""
        return Supervisor(
            workers=self._workers,
            recycle=self._recycle,
            interpreter=self._interpreter,
            leases=Leases(self._gpus, exclusive=False),
            preforked=self._preforked,
            idle=self._idle,
            watch=self._watch,
        ).launch(source)

    def end_idle(self) -> None:
        """So that what runs now has the machine, and its memory, to itself."""
        self._idle.end()

    def __enter__(self) -> Pool:
        # Those of two phases: what evaluates in numpy is asked again after the engines.
        self._idle.most = 2 * self._workers
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._idle.most = 0
        self._idle.end()


class FreshProcess:
    """A new process for every job; one at a time unless stated otherwise, so that measuring is alone, on a GPU of its own.
    `clear` is called before: it ends what is idle."""

    def __init__(
        self,
        workers: int = 1,
        interpreter: InterpreterOf = own_interpreter,
        gpus: Sequence[Gpu] = (),
        watch: Watch = unwatched,
        clear: Callable[[], None] = lambda: None,
    ) -> None:
        self._workers, self._interpreter, self._gpus, self._watch = workers, interpreter, gpus, watch
        self._clear = clear

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """See `ports.Launcher`."""
        self._clear()
        return Supervisor(
            workers=self._workers,
            recycle=1,
            interpreter=self._interpreter,
            leases=Leases(self._gpus, exclusive=True),
            watch=self._watch,
        ).launch(source)
