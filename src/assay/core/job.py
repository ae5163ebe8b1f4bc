"""One cell of the matrix: case x flow x task."""

from __future__ import annotations

import enum

import msgspec

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.duel import Rival, SpeedRule, Turns
from assay.core.flow import Flow


class Task(enum.StrEnum):
    """What a worker is asked to do with a case and a flow; `mutate` is what the driver sums up of all mutants of a case."""

    NOOP = "noop"
    INSPECT = "inspect"
    RECORD = "record"
    VERIFY = "verify"
    MEASURE = "measure"
    DUEL = "duel"
    TURNS = "turns"
    DERIVE = "derive"
    LOCAL = "local"
    MUTANTS = "mutants"
    PROBE = "probe"
    MUTATE = "mutate"


class Limits(msgspec.Struct, frozen=True):
    """What one job may use. `memory_bytes` 0 means no limit; importing a backend has a clock of its own, `import_s`."""

    timeout_s: float = 300.0
    memory_bytes: int = 0
    import_s: float = 120.0


class Measuring(msgspec.Struct, frozen=True):
    """How a measure job samples: seconds of sampling, batch sizes (empty: the model's own), threads. `thorough` asks for
    what a benchmark of operators tells besides: cold caches, layouts, the work done."""

    seconds: float = 0.5
    batches: tuple[int, ...] = ()
    threads: int = 1
    warmup_s: float = 2.0
    thorough: bool = False


class Job(msgspec.Struct, frozen=True):
    """What crosses the wall on the way in. `scratch` is a folder the worker may write to; `blobs` the blob
    store's folder; `reference` a golden folder recorded by the oracle for this run, where the case has no
    golden of its own; `why` the reason that a record job writes into it; `profile` the folder of the derived
    tolerance, to be written by a derive job and judged by in a verify job ("": none is wanted); `rival` what a duel is
    fought with, under the rule `speed`; `keep` where a measure job leaves a copy of
    the artifact that it measured, and a job of `turns` finds it; with `reuse` an artifact that an earlier job lowered from
    the same, by the same versions, is loaded instead of lowering again."""

    case: Case
    flow: Flow
    task: Task = Task.VERIFY
    limits: Limits = Limits()
    measuring: Measuring = Measuring()
    scratch: str = ""
    blobs: str = ""
    reference: str = ""
    why: str = ""
    profile: str = ""
    rival: Rival | None = None
    speed: SpeedRule = SpeedRule()
    keep: str = ""
    turns: Turns | None = None
    reuse: bool = False

    @property
    def key(self) -> str:
        """`case | flow | task`: unique inside a run, readable in a log."""
        return f"{self.case.name}|{self.flow.name}|{self.task.value}"


def job_digest(job: Job) -> str:
    """Identity of what is asked, folders aside: the same question has the same digest on every machine."""
    return value_digest((job.case, job.flow, job.task, job.measuring))
