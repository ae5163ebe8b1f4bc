"""Jobs that wait, by the kind of worker that they need: one process imports the libraries of one backend only."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from assay import plugins
from assay.core.flow import VARIABLE, Flow, variables_of
from assay.core.job import (
    DeriveToleranceJob,
    InspectJob,
    NoopJob,
    ReferenceJob,
    ScreenJob,
    VerifyJob,
)
from assay.core.job_base import FlowJob, Job, JobKind
from assay.core.result import Result


class WorkerKey(NamedTuple):
    """What two jobs must have in common to be done by one process."""

    environment: str
    backend: str
    transforms: tuple[str, ...]
    device: str
    apart: str = ""
    """The kind of job, where it shares a process with its own kind alone."""
    variables: tuple[tuple[str, str], ...] = ()
    """Of the process, as the options of the flow say."""


NUMPY = "reference"
"""The backend that evaluates in numpy. Its processes also look at models, derive tolerances and compare models with their originals."""


def worker_key(job: Job) -> WorkerKey:
    """Arguments of transforms and options of the backend do not matter: they import nothing more. Nor does it which of those
    in numpy it is: one process looks at a model, evaluates it and derives its tolerance. Thousands of generated cases have a process of
    their own: what they leave in a library's memory must not meet the check of one of them."""
    apart = job.kind if isinstance(job, ScreenJob) or not leaves_as_it_was(job) else ""
    if not isinstance(job, FlowJob):
        return WorkerKey("", NUMPY, (), "cpu", apart)
    flow = job.flow
    names = tuple(sorted({transform.partition(":")[0] for transform in flow.transforms}))
    return WorkerKey(flow.environment, flow.backend, names, flow.device, apart, _variables(flow))


def screens(kind: WorkerKey) -> bool:
    """Whether its processes try generated cases."""
    return kind.apart == JobKind.SCREEN


def _variables(flow: Flow) -> tuple[tuple[str, str], ...]:
    """Those that the backend declares: no flow may set another, as `LD_PRELOAD` would be."""
    if not any(name.startswith(VARIABLE) for name in flow.options):
        return ()
    declared = {spec.name for spec in plugins.load("assay.backends", flow.backend).options}
    stated = {name: value for name, value in flow.options.items() if name in declared}
    return tuple(sorted(variables_of(stated).items()))


_REPEATABLE = NoopJob | InspectJob | ReferenceJob | DeriveToleranceJob | VerifyJob


def leaves_as_it_was(job: Job) -> bool:
    """Whether a process that has done this job may do one of another kind. Not where the model or its inputs are code, and not where a
    limit of memory would be charged with what other kinds have left: that of looking at a model is far more than a process keeps that
    may be used again."""
    if isinstance(job, ScreenJob):
        return not job.limits.memory_bytes
    model, inputs = job.case.model, job.case.inputs
    # Before it was looked at, only the name of a file says what it is.
    is_data = model.format == "onnx" and model.source.endswith(".onnx") and inputs.data is None
    limited = job.limits.memory_bytes and not isinstance(job, InspectJob)
    return isinstance(job, _REPEATABLE) and is_data and job.case.misuse is None and not limited


NUMPY_VARIABLES = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_MMAP_MAX_": "0",
    "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
}
"""One thread for each product of matrices: a second one saves a twentieth of the time (a detector of 12 MB, OpenBLAS 0.3.31), and
where the other core is busy it waits for that one turn by turn, ten times as long; what is large is shared out by our own
(`numerics/oracle/parallel.py`). And glibc keeps the memory of one large array for the next, until the job is done (`worker/serve.py`): it
asked the system for new pages each time, which was a third of the processor time of a net of 19 billion products."""


def environ_of(kind: WorkerKey, environ: Mapping[str, str]) -> Mapping[str, str]:
    """The variables of a worker of that kind: those of what evaluates in numpy, unless the user says otherwise."""
    own = {**NUMPY_VARIABLES, **environ} if kind.backend == NUMPY else environ
    return {**own, **dict(kind.variables)} if kind.variables else own


@dataclass
class Pending:
    """A job on its way: what it gave when it crashed first, whether it was handed back by a worker that died, and whether its
    process was stopped."""

    job: Job
    crashed: Result | None = None
    sent_again: bool = False
    stopped: bool = False


class JobQueue:
    """Jobs in the order given, kind by kind; suspects (they crashed once) go to fresh processes only."""

    def __init__(self) -> None:
        self._jobs: dict[WorkerKey, deque[Pending]] = {}
        self._suspects: dict[WorkerKey, deque[Pending]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._jobs.values())) + sum(map(len, self._suspects.values()))

    def __bool__(self) -> bool:
        return any(self._jobs.values()) or any(self._suspects.values())

    def add(self, pending: Pending, *, first: bool = False) -> None:
        queue = self._jobs.setdefault(worker_key(pending.job), deque())
        queue.appendleft(pending) if first else queue.append(pending)

    def suspect(self, pending: Pending) -> None:
        self._suspects.setdefault(worker_key(pending.job), deque()).append(pending)

    def take(self, kind: WorkerKey, *, fresh: bool) -> Pending | None:
        """The next for a worker of that kind; None where nothing waits that it may do."""
        if fresh and self._suspects.get(kind):
            return self._suspects[kind].popleft()
        return self._jobs[kind].popleft() if self._jobs.get(kind) else None

    def suspects(self, kind: WorkerKey) -> bool:
        return bool(self._suspects.get(kind))

    def count(self, kind: WorkerKey) -> int:
        return len(self._jobs.get(kind, ())) + len(self._suspects.get(kind, ()))

    def kinds(self) -> list[WorkerKey]:
        """Those for which something waits, in the order in which they were first asked for."""
        return [kind for kind in dict.fromkeys([*self._jobs, *self._suspects]) if self.count(kind)]

    def drop(self, kind: WorkerKey) -> list[Pending]:
        """All that wait for that kind: they are not waited for any more."""
        return [*self._suspects.pop(kind, ()), *self._jobs.pop(kind, ())]
