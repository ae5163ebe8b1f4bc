"""Other machines, which get ready while the command still imports what it needs, and finds out what they are to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from assay import plugins
from assay.commands.place import is_slurm, place_of_suites
from assay.commands.recycling import SUITE_RECYCLE, recycle_of
from assay.core.environment import Interpreter
from assay.core.job_base import Job
from assay.core.outcome import Stage
from assay.core.step import Step
from assay.errors import UsageError
from assay.launch.pool import InterpreterOf, own_interpreter
from assay.launch.watch import Watch, unwatched
from assay.options.run import RunOptions
from assay.ports import Launcher

LAUNCHERS = "assay.launchers"
HERE = ("pool", "fresh")
"""Those of this machine."""


class Elsewhere:
    """What `place` names (see `place_of`), begun at once. A context manager: all ends with it, however often it is left. `workers` are
    those of each machine, which are prepared for `flows`. Raises as `launchers_of`, and what beginning raises."""

    def __init__(self, place: str, workers: int, recycle: int, flows: Sequence[str] = ()) -> None:
        self._interpreter: InterpreterOf = own_interpreter
        self._watch: Watch = unwatched
        address = place.partition("://")[2]
        launchers = launchers_of(place)(address, workers, recycle, self._interpreter_of, self._at, flows)
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

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.__exit__(kind, error, trace)


def elsewhere(place: str, workers: int, recycle: int, flows: Sequence[str] = ()) -> Elsewhere | None:
    """None for this machine."""
    return Elsewhere(place, workers, recycle, flows) if place else None


def elsewhere_for_suites(options: RunOptions) -> Elsewhere | None:
    """For `assay run`, but for Slurm, which has no agents."""
    place = place_of_suites(options)
    flows = options.flows if options.only_kind == "verify" else ()
    return None if is_slurm(place) else elsewhere(place, options.workers, recycle_of(options, SUITE_RECYCLE), flows)


def launchers_of(place: str) -> Callable[..., AbstractContextManager[tuple[Launcher, Launcher]]]:
    """What `--on` names. Raises UsageError for what nobody offers, UnknownName where a package is missing."""
    name = place.partition("://")[0]
    known = [one for one in plugins.names(LAUNCHERS) if one not in HERE]
    if is_slurm(place):
        raise UsageError(
            "slurm shares out the cases of suites, as `assay run` does; give --on ray, or --on here to run jobs on this machine"
        )
    if name not in known:
        raise UsageError(
            f'nothing runs jobs on "{place}": give --on {", ".join(known)}, or --on here to run them on this machine'
        )
    found: Callable[..., AbstractContextManager[tuple[Launcher, Launcher]]] = plugins.load(LAUNCHERS, name)
    return found
