"""One cell of the matrix: case x flow x task."""

from __future__ import annotations

import enum
import math

import msgspec

from assay.core.case import LARGEST, Case
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.speed import AlternatingSide, BaselineEngine, SpeedRule
from assay.errors import UsageError


class JobKind(enum.StrEnum):
    """What a worker is asked to do with a case and a flow; `mutate` is what the driver sums up of all mutants of a case,
    `change` compares the reference answers of a model with those of its original: no engine takes part."""

    NOOP = "noop"
    INSPECT = "inspect"
    RECORD = "record"
    VERIFY = "verify"
    MEASURE = "measure"
    DUEL = "duel"
    TURNS = "turns"
    DERIVE = "derive"
    PER_NODE = "per_node"
    MUTANTS = "mutants"
    PROBE = "probe"
    MUTATE = "mutate"
    CHANGE = "change"


class RefusalCache(enum.StrEnum):
    """What a job makes of a refusal to lower that an earlier job was long in getting, where it loads no cached artifact: not looked
    at and not kept; believed; or removed and asked for again. What is refused is kept by the last two."""

    UNUSED = "unused"
    USED = "used"
    RENEWED = "renewed"


IMPORT_S = 120.0
DERIVATIONS = 4.0


class Limits(msgspec.Struct, frozen=True):
    """What one job may use. `memory_bytes` 0 means no limit; importing a backend has a clock of its own, `import_s`
    (0: IMPORT_S, or `timeout_s` where that is longer), and so has the derivation of a tolerance, `derive_s` (0: DERIVATIONS
    times `timeout_s`), which no engine answers for."""

    timeout_s: float = 300.0
    memory_bytes: int = 0
    import_s: float = 0.0
    derive_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 < self.timeout_s < math.inf:
            raise UsageError(f"the time limit is {self.timeout_s:g} s; it must be a finite number, more than 0")
        if not 0.0 <= self.derive_s < math.inf:
            raise UsageError(f"a derivation may take {self.derive_s:g} s; it must be a finite number, 0 or more")
        _check_fits("the memory limit", self.memory_bytes)

    @property
    def importing_s(self) -> float:
        """How long importing may take: who raises the limit of a job on a slow machine raises this one, too."""
        return self.import_s or max(IMPORT_S, self.timeout_s)

    @property
    def deriving_s(self) -> float:
        """How long the derivation of a tolerance may take."""
        return self.derive_s or DERIVATIONS * self.timeout_s


class Measuring(msgspec.Struct, frozen=True):
    """How a measure job samples: seconds of sampling, batch sizes (empty: the model's own), threads. `thorough` asks for
    what a benchmark of operators tells besides: cold caches, layouts, the work done."""

    seconds: float = 0.5
    batches: tuple[int, ...] = ()
    threads: int = 1
    warmup_s: float = 2.0
    thorough: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.seconds < math.inf:
            raise UsageError(f"sampling lasts {self.seconds:g} s; it must be a finite number, more than 0")
        for what, number in (("the number of threads", self.threads), *(("a batch size", one) for one in self.batches)):
            _check_fits(what, number)


def _check_fits(what: str, number: int) -> None:
    if not 0 <= number <= LARGEST:
        raise UsageError(f"{what} is {number}; it must fit 64 bits")


class Job(msgspec.Struct, frozen=True):
    """What crosses the wall on the way in. `scratch` is a folder the worker may write to;
    `reference` a golden folder recorded by the oracle for this run, where the case has no golden of its own; `original`
    that of the case's original; `why` the reason that a record job writes into it; `profile` the folder of the derived
    tolerance, to be written by a derive job and judged by in a verify job ("": none is wanted); `rival` what a duel is
    fought with, under the rule `speed`; `keep` where a measure job leaves a copy of the artifact that it measured, and a
    job of `turns` finds it, or where a verify job leaves that which another tolerance may judge otherwise, for the job that asks
    again; with `reuse` an artifact that an earlier job lowered from the same, by the same versions, is
    loaded instead of lowering again; `coarse` lets a derive job write a coarse tolerance beside `profile` where that saves
    work; `tied` are folders of tolerances that it writes, too, by another rule for ties ("": half to even); `refusals` is
    what a job makes of a refusal of an earlier job. `save_inputs` and `save_outputs` are where a verify job leaves
    what it fed and what the engine answered ("": nowhere)."""

    case: Case
    flow: Flow
    task: JobKind = JobKind.VERIFY
    limits: Limits = Limits()
    measuring: Measuring = Measuring()
    scratch: str = ""
    reference: str = ""
    why: str = ""
    profile: str = ""
    rival: BaselineEngine | None = None
    speed: SpeedRule = SpeedRule()
    keep: str = ""
    turns: AlternatingSide | None = None
    reuse: bool = False
    original: str = ""
    save_inputs: str = ""
    save_outputs: str = ""
    coarse: bool = False
    tied: dict[str, str] = {}
    refusals: RefusalCache = RefusalCache.UNUSED

    @property
    def key(self) -> str:
        """`case | flow | task`: unique inside a run, readable in a log."""
        return f"{self.case.name}|{self.flow.name}|{self.task.value}"


def job_digest(job: Job) -> str:
    """Identity of what is asked, folders aside: the same question has the same digest on every machine."""
    return value_digest((job.case, job.flow, job.task, job.measuring))
