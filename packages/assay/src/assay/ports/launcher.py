"""Where jobs run, and where untrusted code runs."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, runtime_checkable

from assay.core.job_base import Job
from assay.core.result import Result
from assay.core.sandbox import Sandboxed, SandboxLimits
from assay.ports.values import Availability


class JobSource(Protocol):
    """Jobs that become ready: one may need what another gave."""

    def next_ready(self) -> Job | None:
        """The next job that can run now, given once; None where there is none, until another result is handed out."""
        ...

    def expected(self) -> Iterable[Job]:
        """Jobs that probably become ready later: a launcher may start what they need while it has nothing else to do."""
        ...


class JobList:
    """A source of jobs that need nothing of one another."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = iter(jobs)

    def next_ready(self) -> Job | None:
        """In the order given."""
        return next(self._jobs, None)

    def expected(self) -> Iterable[Job]:
        """None: all are ready."""
        return ()


class Launcher(Protocol):
    """Jobs in, exactly one result each out, in the order they end. Conformance: `assay.testing.check_launcher`.

    The smallest one takes a job when it has done the one before:

        while (job := source.next_ready()) is not None:
            yield run(job)
    """

    def launch(self, source: JobSource) -> Generator[Result, None, None]:
        """Takes what is ready at the start and after each result. Ends when nothing is ready and nothing runs. Closing it
        stops all workers and leaves no process behind."""
        ...


class Launchers(Protocol):
    """Machines of an engine that is there already: what `--on NAME`, or `NAME://ADDRESS`, opens (group `assay.launchers`). Its type is
    called with the address, the workers of each machine (0: one per core), the jobs of one worker process, a function from the name of an
    environment to its interpreter, one to which progress is reported (`assay.launch.watch.Watch`), and the names of the flows of which jobs
    will come, as far as they are known: what their workers need may be imported before. Raises UsageError, WorkerFailed."""

    def __enter__(self) -> tuple[Launcher, Launcher]:
        """One that shares jobs out, and one whose jobs have a machine to themselves: always the same one, so that times compare."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        """Nothing is left on any machine."""
        ...


@runtime_checkable
class SharesFiles(Protocol):
    """Launchers whose machines need no disk in common, where there is a store."""

    def share_by(self, store: str, files: Sequence[str] = ()) -> None:
        """Its address, "" where there is none, and paths below the working folder that every job may open: called once, before the
        launchers are entered."""
        ...


class Sandbox(Protocol):
    """Runs untrusted code: no network, no secrets, a read-only system, a user of its own, limits on everything."""

    def available(self) -> Availability:
        """Whether this machine can hold it, tried for real, and if not what to do."""
        ...

    def run(
        self, command: Sequence[str], *, inputs: Mapping[str, Path], output: Path, limits: SandboxLimits
    ) -> Sandboxed:
        """Run `command` in /work, an empty writable folder that is copied to `output` afterwards: regular files only,
        within `limits`. Each of `inputs` is seen read-only under /in/NAME. "python" in front is the interpreter of the
        harness with its packages. Never raises for what the code does."""
        ...
