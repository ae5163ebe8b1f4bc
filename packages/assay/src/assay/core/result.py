"""What one job observed. Recorded once, never changed; verdicts are derived from it."""

from __future__ import annotations

import msgspec

from assay.core.comparison import Comparison, Finding
from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts
from assay.core.measurement import Measurement, Memory, OperationCount, OperatorTime
from assay.core.model import Model
from assay.core.node_error import NodeError
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.reference import Reference, Witness
from assay.core.speed import SpeedComparison


class StageTime(msgspec.Struct, frozen=True):
    """Wall seconds spent in one stage."""

    stage: Stage
    seconds: float


class UntakenBranch(msgspec.Struct, frozen=True):
    """A branch of the If `node` (then or else) that no sample takes. `by_sizes`: sizes of inputs alone decide. `tried` counts other
    values that were tried."""

    node: str
    branch: str
    by_sizes: bool = False
    tried: int = 0


class Result(msgspec.Struct, frozen=True):
    """What one job observed. `job_key` is `case|flow|task`; `detail` one sentence a person can act on.

    `comparisons` are against the reference of what the backend was given; where transforms changed that, `against_float`
    compares the same outputs with the reference of the model as it was: what the user loses, judged by goals only.
    `original` names the model that this one is to be still, "" where that is not asked: `against_float` is then against it.
    `float_reference` is whose answers `against_float` is measured by, `float_witnesses` who was asked whether those are right.
    `stage` is the stage reached last; `node` the offending node where the backend names it; `signal` the name of the
    signal of a crash; `attempts` counts processes tried; `only_after_other_jobs` marks a crash that a fresh process did
    not repeat; `node_errors` are of a per-node job, in the order of the graph;
    `log` is the bounded native stdout and stderr, `log_file` where it was written to with the rest
    that is known of the job ("": nowhere).
    """

    job_key: str
    case: str
    flow: str
    task: str
    job_digest: str
    outcome: Outcome
    stage: Stage
    cause: Cause = Cause.NONE
    detail: str = ""
    node: str = ""
    signal: str = ""
    attempts: int = 1
    only_after_other_jobs: bool = False
    stage_times: tuple[StageTime, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    against_float: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    task_metrics: dict[str, float] = {}
    measurements: tuple[Measurement, ...] = ()
    memory: Memory = Memory()
    facts: EngineInfo = EngineInfo()
    warnings: tuple[str, ...] = ()
    untaken_branches: tuple[UntakenBranch, ...] = ()
    log: str = ""
    versions: dict[str, str] = {}
    started_at: str = ""
    seconds: float = 0.0
    model: Model | None = None
    duel: SpeedComparison | None = None
    rival_facts: EngineInfo = EngineInfo()
    more_duels: tuple[SpeedComparison, ...] = ()
    operator_times: tuple[OperatorTime, ...] = ()
    rival_operator_times: tuple[OperatorTime, ...] = ()
    work: OperationCount = OperationCount()
    inputs: tuple[InputFacts, ...] = ()
    node_errors: tuple[NodeError, ...] = ()
    reference: Reference = Reference()
    witnesses: tuple[Witness, ...] = ()
    original: str = ""
    log_file: str = ""
    float_reference: Reference = Reference()
    float_witnesses: tuple[Witness, ...] = ()
