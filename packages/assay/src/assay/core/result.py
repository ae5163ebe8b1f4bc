"""What one job observed. Recorded once, never changed; verdicts are derived from it."""

from __future__ import annotations

import enum
import math
from typing import Literal

import msgspec

from assay.core.flow import Option
from assay.core.gpu import GpuRecord
from assay.core.input_plan import InputFacts
from assay.core.model import Model
from assay.core.node_error import NodeError
from assay.core.reference import Reference, Witness
from assay.core.speed import SpeedComparison
from assay.core.tensor_statistics import TensorStatistics


class Stage(enum.StrEnum):
    """Where a job is. A crash is blamed on the stage entered last."""

    START = "start"
    IMPORT = "import"
    TRANSFORM = "transform"
    LOWER = "lower"
    SAVE = "save"
    LOAD = "load"
    RUN = "run"
    COMPARE = "compare"
    MEASURE = "measure"


class Outcome(enum.StrEnum):
    """How a job ended. Only the policy turns an outcome into a failure.

    `lowered`: the artifact was built and cannot be run here; nothing is known of its answers. `other_precision`: the answers
    are right, and nothing ran in the type that the flow promises.
    """

    OK = "ok"
    MISMATCH = "mismatch"
    UNSUPPORTED = "unsupported"
    UNDELEGATED = "undelegated"
    OTHER_PRECISION = "other_precision"
    ERROR = "error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    UNAVAILABLE = "unavailable"
    LOWERED = "lowered"
    NONDETERMINISTIC = "nondeterministic"
    MISTRUSTED = "mistrusted"
    INFRASTRUCTURE = "infrastructure"


FAILS_BY_DEFAULT = (
    Outcome.MISMATCH,
    Outcome.ERROR,
    Outcome.CRASH,
    Outcome.TIMEOUT,
    Outcome.OUT_OF_MEMORY,
    Outcome.NONDETERMINISTIC,
)
"""Outcomes that fail a job under a policy that says nothing of them; all else of an outcome is in the table of the judge."""


class Cause(enum.StrEnum):
    """Why a stage failed, as far as the backend's words tell. `refused`: it said no in words of its own, which tell no more.
    `no_reference`: nobody has answers to compare with. `invalid_model`: an engine finds the model invalid; `invalid_file`: the
    checker of its format does. `not_installed`, `no_environment`, `needs_opset` and `not_made` (a case of a suite): what to do is
    in the detail. `peer_failed`: the other process of a comparison failed, and this one is well."""

    NONE = "none"
    INVALID_MODEL = "invalid_model"
    WRONG_USAGE = "wrong_usage"
    OPERATOR_UNSUPPORTED = "operator_unsupported"
    OPSET_TOO_NEW = "opset_too_new"
    OUT_OF_MEMORY = "out_of_memory"
    SIGNAL = "signal"
    TIMEOUT = "timeout"
    MISSING_LIBRARY = "missing_library"
    MISSING_DEVICE = "missing_device"
    REFUSED = "refused"
    NO_REFERENCE = "no_reference"
    INVALID_FILE = "invalid_file"
    NOT_INSTALLED = "not_installed"
    NO_ENVIRONMENT = "no_environment"
    NEEDS_OPSET = "needs_opset"
    NOT_MADE = "not_made"
    PEER_FAILED = "peer_failed"
    OTHER = "other"


class Finding(msgspec.Struct, frozen=True):
    """One defect seen by the comparator. `kind` is one of: missing_output, missing_reference (the reference has other outputs),
    extra_output, output_order, samples, dtype, shape, nan, infinity, lowest_for_infinity, values, degenerate, empty,
    unsupported_dtype, task, accepted (an answer where an error was due), unusable (the engine after a wrong use), function_body
    (an operator and its body disagree), precision (computed in a coarser type than the flow promises), drift (a sequence of calls
    that ends in NaN or infinity)."""

    kind: str
    output: str
    text: str


class WorstElement(msgspec.Struct, frozen=True):
    """One of the worst elements: index (sample first), expected, actual."""

    index: tuple[int, ...]
    expected: float
    actual: float


class Histogram(msgspec.Struct, frozen=True):
    """Counts between edges; len(edges) == len(counts) + 1."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


Direction = Literal["up", "down", "both"]
"""Which way a figure is worse. "both": away from 1 in either direction (a ratio)."""


def worse_of(worse: Direction, one: float, other: float) -> float:
    """The worse of two values of a figure; one that is not a number is the worst of all."""
    if math.isnan(one) or math.isnan(other):
        return math.nan
    if worse == "both":
        return max(one, other, key=lambda ratio: abs(ratio - 1.0))
    return max(one, other) if worse == "up" else min(one, other)


class StatedMetric(msgspec.Struct, frozen=True):
    """What a plug-in says of a figure of its own: the unit ("" for a pure number), and which way is worse."""

    unit: str
    worse: Direction


class Comparison(msgspec.Struct, frozen=True):
    """One output, all samples together, against its reference.

    `metrics` holds plain figures (max_abs, max_rel, rel_l2, rmse, cosine, norm_ratio, sqnr_db, psnr_db, abs_p50, abs_p99,
    share_out_of_tolerance, budget_used ...); units are in the names. `degenerate` says why the reference or the output
    is too poor to prove anything ("" if it is not); `uninformative`: it is the reference, which is empty, constant or at the
    bounds of its type, and not a doubt about the output; `share_at_bounds` of its elements are there (0.0 below a half). `at` is
    "" for the inputs of the case, or the sizes of the dynamic dimensions that it was run at besides ("batch=17"). `tolerance` is
    whose limits those are: "derived" from the graph, "learnt" from
    perturbed runs of a plain engine, "default" (a multiple of the unit roundoff, a guess where the other two were asked for), or
    "chosen" by the user; "" where results are older than the field. `actual` is what the engine's values are like.
    `stated` is what plug-ins say of the figures that they added to `metrics`.
    """

    output: str
    dtype: str
    shape: tuple[int, ...]
    samples: int
    elements: int
    findings: tuple[Finding, ...] = ()
    metrics: dict[str, float] = {}
    rtol: float = 0.0
    atol: float = 0.0
    degenerate: str = ""
    worst: tuple[WorstElement, ...] = ()
    error_histogram: Histogram | None = None
    ulp_histogram: Histogram | None = None
    at: str = ""
    tolerance: str = ""
    actual: TensorStatistics | None = None
    uninformative: bool = False
    share_at_bounds: float = 0.0
    stated: dict[str, StatedMetric] = {}


class Measurement(msgspec.Struct, frozen=True):
    """Honest samples at one batch size: seconds per call, wall and CPU, in the order taken.

    `warmup_s` are the calls before the clock was believed; `stable` is False where the budget ended first. `cold_s` are
    wall seconds of calls before which the caches were emptied; `layout` how inputs of four axes lay in memory ("" as usual,
    C order, or channels-last). On a CUDA device `gpu` tells what was seen of it, and `device_s` are seconds by its own clock.
    """

    batch: int
    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    warmup_s: tuple[float, ...] = ()
    stable: bool = True
    cold_s: tuple[float, ...] = ()
    layout: str = ""
    device_s: tuple[float, ...] = ()
    gpu: GpuRecord | None = None


class Memory(msgspec.Struct, frozen=True):
    """Peak resident memory in bytes (VmHWM, reset before each): of the process before loading, of load, of run (the first
    ten calls at each batch size, so that a leak does not count twice). `soak_bytes` is the resident memory after so many
    calls more (`soak_calls`): whether it grows. `loaded_bytes` is what was resident between loading and running."""

    before_bytes: int = 0
    load_peak_bytes: int = 0
    run_peak_bytes: int = 0
    soak_calls: tuple[int, ...] = ()
    soak_bytes: tuple[int, ...] = ()
    loaded_bytes: int = 0


class OperatorTime(msgspec.Struct, frozen=True):
    """One operator of the engine, as the backend's own profile tells: its name there, its kind, its type ("" unknown),
    and the median wall seconds that it takes in one call."""

    name: str
    operator: str
    seconds: float
    precision: str = ""


class OperationCount(msgspec.Struct, frozen=True):
    """What one call has to do at least, from the graph: floating operations (a multiplication and an addition are two),
    bytes of inputs, weights and outputs once each, elements of the outputs. 0: not known."""

    flops: float = 0.0
    moved_bytes: int = 0
    elements: int = 0


class Placement(msgspec.Struct, frozen=True):
    """How many operators of one kind ran where, and in which type. `device` is the backend's word (CPUExecutionProvider).

    `role` is `compute`; `fused`, a kernel that stands for several operators of the model; `cast`, which only changes the
    type (QuantizeLinear and DequantizeLinear too); `reformat`, which only changes the layout; "" where the backend
    does not tell.
    """

    operator: str
    device: str
    precision: str
    count: int
    role: str = ""


class AppliedTransform(msgspec.Struct, frozen=True):
    """One transform as it was carried out: `name:argument`, the version of the library that did it, the digest of the model
    it wrote. `samples` are the samples it was calibrated with, by their index in the golden set (or in the stream of
    the seed), drawn with `seed`; none of them is judged."""

    transform: str
    version: str = ""
    digest: str = ""
    samples: tuple[int, ...] = ()
    seed: int = 0


class NumericDefault(msgspec.Struct, frozen=True):
    """A setting of the backend that nobody asked for and that changes numbers, with the value that the engine has. `effect` is a code of
    `assay.judge.numeric_defaults`. `option` and `off` are the option of the flow, and its value, that turn it off ("" where none
    does). `cures`: whether the answers are right without it, asked where they were wrong; None: not tried, or it failed."""

    name: str
    value: str
    effect: str
    option: str = ""
    off: Option = ""
    cures: bool | None = None


class EngineInfo(msgspec.Struct, frozen=True):
    """What the engine really is, as far as the backend tells.

    `precision` is the coarsest type that the engine computes in. `delegated` counts the operators (or parts) that a delegate took,
    None for a backend that delegates nothing by design; 0 makes the outcome `undelegated`. `undelegated` names those
    that were left to somebody else, as often as they occur. `weights` counts layers by the type in which the artifact stores
    their weights, where the backend tells. `reused` is the key of the cached artifact that was loaded,
    "" where this job lowered the model itself. `numeric_defaults` are those that apply to this engine.
    """

    backend_version: str = ""
    artifact_bytes: int = 0
    artifact_digest: str = ""
    precision: str = ""
    placements: tuple[Placement, ...] = ()
    undelegated: tuple[str, ...] = ()
    options: dict[str, str] = {}
    delegated: int | None = None
    transforms: tuple[AppliedTransform, ...] = ()
    reused: str = ""
    weights: dict[str, int] = {}
    numeric_defaults: tuple[NumericDefault, ...] = ()


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
