"""Other machines, which get ready while the command still imports what it needs, and finds out what they are to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from types import TracebackType

from assay import plugins
from assay.commands.blob_store import store_address
from assay.commands.machine_address import MachineAddress, sent_files, suite_address
from assay.commands.recycling import SUITE_RECYCLE, recycle_of
from assay.core.environment import Interpreter
from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.step import Step
from assay.errors import UsageError
from assay.launch.pool import InterpreterOf, own_interpreter
from assay.launch.watch import Watch, unwatched
from assay.options.run import RunOptions
from assay.ports import Launcher, SharesFiles

LAUNCHERS = "assay.launchers"
HERE = ("pool", "fresh")
"""Those of this machine."""


class RemoteMachines:
    """Those of `address`, begun at once. A context manager: all ends with it, however often it is left. `workers` are
    those of each machine, which are prepared for `flows`; `on` as in `Services`. Raises as `launchers_of`, and
    what beginning raises."""

    def __init__(self, address: MachineAddress, workers: int, recycle: int, flows: Sequence[str] = ()) -> None:
        self.on = address.words
        self._interpreter: InterpreterOf = own_interpreter
        self._watch: Watch = unwatched
        launchers = launchers_of(address)(
            address.text.partition("://")[2], workers, recycle, self._interpreter_of, self._at, flows
        )
        if isinstance(launchers, SharesFiles):
            launchers.share_by(_absolute(store_address()), sent_files(address.config))
        self._opened = ExitStack()
        self._pools = self._opened.enter_context(launchers)

    def launchers(self, interpreter: InterpreterOf, watch: Watch) -> tuple[Launcher, Launcher]:
        """One that shares jobs out, and one whose jobs are alone. From now on environments and people are known."""
        self._interpreter, self._watch = interpreter, watch
        return self._pools

    def _interpreter_of(self, environment: str) -> Interpreter:
        return self._interpreter(environment)

    def _at(self, job: Job, stage: Stage | None, done: int, total: int, step: Step) -> None:
        self._watch(job, stage, done, total, step)

    def __enter__(self) -> RemoteMachines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)


def _absolute(store: str) -> str:
    return store if "://" in store or not store else str(Path(store).absolute())


def remote_machines(
    address: MachineAddress, workers: int, recycle: int, flows: Sequence[str] = ()
) -> RemoteMachines | None:
    """None for this machine."""
    return RemoteMachines(address, workers, recycle, flows) if address.text else None


def remote_machines_for_suites(options: RunOptions) -> RemoteMachines | None:
    """For `assay run`, but for Slurm, which has no agents."""
    address = suite_address(options)
    flows = options.flows if options.only_kind == "verify" else ()
    recycle = recycle_of(options, SUITE_RECYCLE)
    return None if address.is_slurm else remote_machines(address, options.workers, recycle, flows)


def launchers_of(address: MachineAddress) -> Callable[..., AbstractContextManager[tuple[Launcher, Launcher]]]:
    """Those of the address. Raises UsageError for what nobody offers, UnknownName where a package is missing."""
    name = address.text.partition("://")[0]
    known = [launcher for launcher in plugins.names(LAUNCHERS) if launcher not in HERE]
    if address.is_slurm:
        raise UsageError(
            "slurm shares out the cases of suites, as `assay run` does; give --on ray, or --on here to run jobs on this machine"
        )
    if name not in known:
        what = f'nothing runs jobs on "{address.text}"'
        if address.file:
            raise UsageError(f"{address.file}: launch.on: {what}: write {', '.join(known)}, slurm or here")
        raise UsageError(
            f"{what}: give --on {', '.join(known)}, --on slurm (`assay run` alone), or --on here to run them on this machine"
        )
    launcher: Callable[..., AbstractContextManager[tuple[Launcher, Launcher]]] = plugins.load(LAUNCHERS, name)
    return launcher
