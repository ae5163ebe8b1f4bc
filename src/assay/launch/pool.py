"""Long-lived workers for verifying, and one fresh process per job for measuring and for suspects."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from assay.core.device import Gpu
from assay.core.environment import Interpreter
from assay.core.job import Job
from assay.core.result import Result
from assay.errors import EnvironmentFailed
from assay.launch.ahead import Ahead, most_workers
from assay.launch.leases import Leases
from assay.launch.supervisor import Supervisor, Watch, unwatched

InterpreterOf = Callable[[str], Interpreter]
"""From the name of an environment ("": the driver's) to the Python of its workers. Raises EnvironmentFailed."""


def own_interpreter(environment: str) -> Interpreter:
    """The driver's. Raises EnvironmentFailed for any other: who launches must say where environments are."""
    if environment:
        raise EnvironmentFailed(f"no environments are known here, so {environment!r} is not either")
    return Interpreter(sys.executable)


class Pool:
    """Warm workers, each replaced after 100 jobs or any failure. Several share a GPU; several GPUs are used at once."""

    def __init__(
        self,
        workers: int = 0,
        recycle: int = 100,
        interpreter: InterpreterOf = own_interpreter,
        gpus: Sequence[Gpu] = (),
        ahead: Ahead | None = None,
        watch: Watch = unwatched,
    ) -> None:
        self._workers, self._watch = most_workers(workers), watch
        self._recycle, self._interpreter, self._gpus, self._ahead = recycle, interpreter, gpus, ahead

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """See `ports.Launcher`."""
        return Supervisor(
            workers=max(1, min(self._workers, len(jobs))),
            recycle=self._recycle,
            interpreter=self._interpreter,
            leases=Leases(self._gpus, exclusive=False),
            ahead=self._ahead,
            watch=self._watch,
        ).launch(jobs)


class Fresh:
    """A new process for every job; one at a time unless told otherwise, so that measuring is alone, on a GPU of its own."""

    def __init__(
        self,
        workers: int = 1,
        interpreter: InterpreterOf = own_interpreter,
        gpus: Sequence[Gpu] = (),
        watch: Watch = unwatched,
    ) -> None:
        self._workers, self._interpreter, self._gpus, self._watch = workers, interpreter, gpus, watch

    def launch(self, jobs: Sequence[Job]) -> Iterator[Result]:
        """See `ports.Launcher`."""
        return Supervisor(
            workers=self._workers,
            recycle=1,
            interpreter=self._interpreter,
            leases=Leases(self._gpus, exclusive=True),
            watch=self._watch,
        ).launch(jobs)
