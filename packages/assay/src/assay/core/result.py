"""What one job observed. Recorded once, never changed; verdicts are derived from it. One type for each kind of job, with the fields
of that kind only: each is named as the job that it answers."""

from __future__ import annotations

import msgspec

from assay.core.comparison import Comparison
from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding
from assay.core.input_plan import InputFacts
from assay.core.job_base import JobKind, kind_of
from assay.core.load import LoadPoint, ServiceComparison
from assay.core.measurement import Measurement, Memory, OperationCount, OperatorTime
from assay.core.model import Model
from assay.core.model_finding import ModelFinding
from assay.core.native_warning import NativeWarning
from assay.core.node_error import NodeError, NodeSummary
from assay.core.note import Note
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.reference import Reference, Witness
from assay.core.region import AfterPass, RegionError, RegionGraph
from assay.core.repeats import Repeats
from assay.core.screening import Suspect
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


class Result(msgspec.Struct, frozen=True, tag_field="kind"):
    """What every result has. `job_key` is `case|flow|kind`; `ended` is what a worker says of how the job ended, `detail` one sentence a
    person can act on: the driver makes it.

    `stage` is the stage reached last; `node` the offending node where the backend names it; `signal` the name of the
    signal of a crash; `attempts` counts processes tried; `only_after_other_jobs` marks a crash that a fresh process did
    not repeat; `jobs_before` counts the jobs that its process had done before it; `log` is the bounded native stdout and stderr,
    `log_file` where it was written to with the rest that is known of the job ("": nowhere). A worker says how the job itself ended;
    what its answers are worth says the judge: then `observed` and `observed_detail` are what the worker said.
    """

    job_key: str
    case: str
    flow: str
    job_digest: str
    outcome: Outcome
    stage: Stage
    cause: Cause = Cause.NONE
    ended: Note | None = None
    detail: str = ""
    observed: Outcome | None = None
    observed_detail: str = ""
    node: str = ""
    signal: str = ""
    attempts: int = 1
    only_after_other_jobs: bool = False
    jobs_before: int = 0
    stage_times: tuple[StageTime, ...] = ()
    notes: tuple[Note, ...] = ()
    log: str = ""
    log_file: str = ""
    versions: dict[str, str] = {}
    started_at: str = ""
    seconds: float = 0.0

    @property
    def kind(self) -> JobKind:
        """The tag of its type."""
        return kind_of(type(self))


class EngineResult(Result, frozen=True, kw_only=True):
    """Of a job that lowers the model: `facts` are those of the engine, as far as it came. `native_warnings` are the library's own;
    `reads_warnings` says that the backend knows what they mean, so that a kind that is not among them did not occur."""

    facts: EngineInfo = EngineInfo()
    native_warnings: tuple[NativeWarning, ...] = ()
    reads_warnings: bool = False


class NoopResult(Result, frozen=True, tag="noop"):
    """That a worker answered."""


class InspectResult(Result, frozen=True, kw_only=True, tag="inspect"):
    """`model` describes the file; None where it cannot be opened: then `findings` are what is wrong with it, or `detail` says it.
    `files` are those of the model."""

    model: Model | None = None
    files: dict[str, str] = {}
    findings: tuple[ModelFinding, ...] = ()


class ReferenceResult(EngineResult, frozen=True, tag="compute_reference"):
    """The answers lie in the folder of the job."""


class VerifyResult(EngineResult, frozen=True, kw_only=True, tag="verify"):
    """`comparisons` are against the reference of what the backend was given; where transforms changed that, `against_float`
    compares the same outputs with the reference of the model as it was: what the user loses, judged by goals only.
    `original` names the model that this one is to be still, "" where that is not asked: `against_float` is then against it.
    `float_reference` is whose answers `against_float` is measured by, `float_witnesses` who was asked whether those are right.
    `unproven` is why nobody knows whether the answers are right, None where somebody does. `repeats` is what asking the engine again
    has shown. `contradictions` are what the model declares of its outputs and its own nodes do not give."""

    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    reference: Reference = Reference()
    witnesses: tuple[Witness, ...] = ()
    against_float: tuple[Comparison, ...] = ()
    float_reference: Reference = Reference()
    float_witnesses: tuple[Witness, ...] = ()
    original: str = ""
    task_metrics: dict[str, float] = {}
    unproven: Note | None = None
    untaken_branches: tuple[UntakenBranch, ...] = ()
    inputs: tuple[InputFacts, ...] = ()
    repeats: Repeats = Repeats()
    contradictions: tuple[ModelFinding, ...] = ()


class ChangeResult(Result, frozen=True, kw_only=True, tag="change"):
    """`comparisons` are those of a model with its original where rounding alone may differ; `against_float` says in any case how far
    they are apart. The other fields as in `VerifyResult`."""

    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    reference: Reference = Reference()
    witnesses: tuple[Witness, ...] = ()
    against_float: tuple[Comparison, ...] = ()
    float_reference: Reference = Reference()
    float_witnesses: tuple[Witness, ...] = ()
    original: str = ""
    task_metrics: dict[str, float] = {}
    unproven: Note | None = None
    untaken_branches: tuple[UntakenBranch, ...] = ()


class PerNodeResult(EngineResult, frozen=True, kw_only=True, tag="per_node"):
    """`node_errors` are in the order of the graph, `comparisons` those of the nodes that use most of their limit. `summary` counts
    the nodes; None where the job did not come so far."""

    comparisons: tuple[Comparison, ...] = ()
    findings: tuple[Finding, ...] = ()
    reference: Reference = Reference()
    witnesses: tuple[Witness, ...] = ()
    node_errors: tuple[NodeError, ...] = ()
    summary: NodeSummary | None = None
    inputs: tuple[InputFacts, ...] = ()


class MeasureResult(EngineResult, frozen=True, kw_only=True, tag="measure"):
    """Samples at each batch size, and what else was seen of the engine alone. `traces` are files of the backend's own profile. Where the
    history keeps samples for some weeks only, `kept_metrics` are the metrics that they had."""

    measurements: tuple[Measurement, ...] = ()
    memory: Memory = Memory()
    operator_times: tuple[OperatorTime, ...] = ()
    work: OperationCount = OperationCount()
    inputs: tuple[InputFacts, ...] = ()
    traces: tuple[str, ...] = ()
    kept_metrics: dict[str, float] = {}


class CompareSpeedResult(EngineResult, frozen=True, kw_only=True, tag="compare_speed"):
    """`speeds` has a comparison for each batch size. Operators were timed at the batch size where the engine seemed slowest."""

    speeds: tuple[SpeedComparison, ...] = ()
    baseline_facts: EngineInfo = EngineInfo()
    operator_times: tuple[OperatorTime, ...] = ()
    baseline_operator_times: tuple[OperatorTime, ...] = ()


class AlternateResult(EngineResult, frozen=True, kw_only=True, tag="alternate"):
    """`turns` are in the order taken, seconds per call by `clock`; `load_s` are wall seconds of loading."""

    turns: Measurement | None = None
    load_s: float = 0.0
    clock: str = ""


class DeriveToleranceResult(Result, frozen=True, tag="derive_tolerance"):
    """The tolerance lies in the folder of the job, or why there is none."""


class ListMutantsResult(Result, frozen=True, tag="list_mutants"):
    """The mutants lie in the file of the job."""


class SearchInputsResult(Result, frozen=True, kw_only=True, tag="search_inputs"):
    """How large the effect of the mutant is on the golden samples and on inputs that were found, whether all outputs were equal, and
    how many inputs were tried. `kinds` says what the inputs are that lie in the folder of the job, largest effect first."""

    golden_effect: float = 0.0
    found_effect: float = 0.0
    golden_equal: bool = False
    found_equal: bool = False
    tried: int = 0
    kinds: tuple[str, ...] = ()


class MutationScoreResult(Result, frozen=True, kw_only=True, tag="mutation_score"):
    """Counts and rates by name, over all mutants of a flow."""

    scores: dict[str, float] = {}


class ValuesResult(Result, frozen=True, kw_only=True, tag="evaluate_values"):
    """The values lie in the folder of the job, with the model; `graph` is that model."""

    graph: RegionGraph = RegionGraph()


class RegionResult(EngineResult, frozen=True, kw_only=True, tag="verify_region"):
    """One error for each part. `passes` changed the model, in their order; `after_each` says what it is worth after
    each; `sizes` are those of axes of inputs and weights, and `tensors`
    the names of these."""

    errors: tuple[RegionError, ...] = ()
    passes: tuple[str, ...] = ()
    after_each: tuple[AfterPass, ...] = ()
    sizes: tuple[int, ...] = ()
    tensors: tuple[str, ...] = ()


class ScreenResult(Result, frozen=True, kw_only=True, tag="screen"):
    """`done` is the index after the last case. `counts` are by what became of a case, `seen` how often a form of an operator was run (its
    name, the opset, the type and the rank of what it reads), `refused` by the operators of the case and the cause; `cpu_s` is the
    processor time of the worker. `rewritten` are pairs of operators that were compiled into something else than each alone. `fired` says
    how often a compiler changed a graph in which way ("Conv+Relu > FusedConv"; "": not at all), of the cases that were looked into.
    `right` are indices, of cases in files alone."""

    done: int = 0
    counts: dict[str, int] = {}
    suspects: tuple[Suspect, ...] = ()
    seen: dict[str, int] = {}
    refused: dict[str, int] = {}
    derived: int = 0
    cpu_s: float = 0.0
    rewritten: tuple[tuple[str, str], ...] = ()
    fired: dict[str, int] = {}
    right: tuple[int, ...] = ()


class LoadResult(Result, frozen=True, kw_only=True, tag="load"):
    """A point for each rate, the lowest first. `knee` is the rate of the greatest throughput over latency (0: beyond what was
    measured); `source` the tool whose file was read ("": measured here). `against` is beside an older service: then there are no points."""

    points: tuple[LoadPoint, ...] = ()
    knee: float = 0.0
    source: str = ""
    against: ServiceComparison | None = None


AnyResult = (
    NoopResult
    | InspectResult
    | ReferenceResult
    | VerifyResult
    | PerNodeResult
    | MeasureResult
    | CompareSpeedResult
    | AlternateResult
    | DeriveToleranceResult
    | ChangeResult
    | ListMutantsResult
    | SearchInputsResult
    | MutationScoreResult
    | ValuesResult
    | RegionResult
    | ScreenResult
    | LoadResult
)
"""Every kind of result: what is read from a message or from the history."""
