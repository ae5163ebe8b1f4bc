"""Workers between two launches of one command, which would start and import again; and the first, which starts before it is known what for.

Only those are kept whose jobs leave a process as it was: a model that is code, functions of the user, quantizers and GPUs
end with their launch, as does whatever has grown large or has an environment of its own. Not so where generated cases are screened: the
next ones come within seconds, and some compilers are imported, and made ready, for a minute. What all that wait hold is bounded: one that
the kernel ends for want of memory looks like a crash of its case.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType

from assay.launch.job_queue import NUMPY, WorkerKey, environ_of, screens
from assay.launch.lane import Lane
from assay.launch.process import WorkerProcess
from assay.launch.tree_memory import MACHINE_BYTES

LARGEST_BYTES = 500_000_000
"""Resident memory of a worker that waits for another launch; a larger one gives it back by ending."""
MOST_BYTES = MACHINE_BYTES // 4
"""Of all that wait."""


@dataclass(frozen=True)
class _Idle:
    kind: WorkerKey
    program: str
    variables: Mapping[str, str]
    process: WorkerProcess
    held_bytes: int = 0


class IdleWorkers:
    """At most `most`, which hold `most_bytes` together; the one that waits longest ends first. With 0, nobody waits. As a context manager,
    all end with it."""

    def __init__(self, most: int = 0, most_bytes: int = MOST_BYTES) -> None:
        self.most, self._most_bytes = most, most_bytes
        self._idle: list[_Idle] = []

    def start_numpy(self) -> None:
        """One that looks at a model, evaluates it and derives its tolerance: it imports while the driver does. Raises WorkerFailed."""
        kind = WorkerKey("", NUMPY, (), "cpu")
        variables = environ_of(kind, os.environ)
        self._idle.append(_Idle(kind, sys.executable, variables, WorkerProcess(sys.executable, variables)))

    def keep(self, lane: Lane) -> bool:
        """False where it must end with its launch: then it is the caller's, as before."""
        kind, process = lane.kind, lane.process
        plain = not (kind.transforms or lane.gpu) and kind.device == "cpu"
        if not self.most or not plain or not lane.keep:
            return False
        if not screens(kind) and (kind.environment or process.resident_bytes() > LARGEST_BYTES):
            return False
        held = process.tree_bytes(self._most_bytes)
        if held > self._most_bytes:
            return False
        self._idle.append(_Idle(kind, lane.program, lane.variables, process, held))
        while len(self._idle) > self.most or sum(idle.held_bytes for idle in self._idle) > self._most_bytes:
            self._idle.pop(0).process.end()
        return True

    def take(self, kind: WorkerKey, program: str, variables: Mapping[str, str]) -> WorkerProcess | None:
        """One that would be started just so. One that has died meanwhile, or has said anything unasked, is ended instead.
        One that had no job yet has not said hello either, as far as its socket was read."""
        for idle in reversed(self._idle):
            if (idle.kind, idle.program, idle.variables) == (kind, program, variables):
                self._idle.remove(idle)
                if not idle.process.jobs_done or idle.process.is_silent():
                    return idle.process
                idle.process.end()
                return self.take(kind, program, variables)
        return None

    def end(self) -> None:
        """All of them. Others may wait afterwards."""
        while self._idle:
            self._idle.pop().process.end()

    def __enter__(self) -> IdleWorkers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
