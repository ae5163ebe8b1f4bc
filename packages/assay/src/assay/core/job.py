"""One question to a worker: a case, a flow, and what is asked about them. One type for each kind of job, with its own fields only,
and the type of the result that answers it."""

from __future__ import annotations

from typing import Any, TypeVar

from assay.core import result as results
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.job_base import (
    AnsweredBy,
    EngineJob,
    FlowInputsJob,
    FlowJob,
    Job,
    ModelInputsJob,
)
from assay.core.limits import Measuring
from assay.core.load import Arrivals
from assay.core.region import RegionEdit
from assay.core.speed import AlternatingSide, BaselineEngine, SpeedRule

CHANGE = "model-change"
"""The subject of a job that compares two models."""


class NoopJob(Job, AnsweredBy[results.NoopResult], frozen=True, tag="noop"):
    """Nothing is done: what the way to a worker and back costs."""


class InspectJob(Job, AnsweredBy[results.InspectResult], frozen=True, kw_only=True, tag="inspect"):
    """Open and validate the model, and the golden of the case. What the case brings as data is read into the folder `data_dir`."""

    data_dir: str = ""


class ReferenceJob(EngineJob, AnsweredBy[results.ReferenceResult], frozen=True, kw_only=True, tag="compute_reference"):
    """Run the flow and write its answers to the golden folder `reference_dir`. `reason` is why a user wants them to be kept ("": they
    are the reference answers of a run), `refusals_before` what those said who were asked before; both are written into it."""

    reason: str = ""
    refusals_before: str = ""


class VerifyJob(EngineJob, AnsweredBy[results.VerifyResult], frozen=True, kw_only=True, tag="verify"):
    """Compare the engine's answers with the reference answers. `no_reference_reason` says why nobody has any ("" where somebody
    has). `tolerance_dir` is the folder of the derived tolerance ("": none is wanted). `artifact_dir` is where an engine that another
    tolerance may judge otherwise is left for the job that asks again; `save_inputs` and `save_outputs` are where the inputs and the
    engine's answers are left ("": nowhere)."""

    no_reference_reason: str = ""
    tolerance_dir: str = ""
    artifact_dir: str = ""
    save_inputs: str = ""
    save_outputs: str = ""


class PerNodeJob(EngineJob, AnsweredBy[results.PerNodeResult], frozen=True, kw_only=True, tag="per_node"):
    """Compare every node of the engine on its own inputs."""

    no_reference_reason: str = ""


class MeasureJob(EngineJob, AnsweredBy[results.MeasureResult], frozen=True, kw_only=True, tag="measure"):
    """Time the engine alone. A copy of the artifact that is measured is left in `artifact_dir`, the backend's own profile of some
    calls in `trace_dir` ("": nowhere)."""

    measuring: Measuring = Measuring()
    no_reference_reason: str = ""
    artifact_dir: str = ""
    trace_dir: str = ""


class CompareSpeedJob(
    EngineJob, AnsweredBy[results.CompareSpeedResult], frozen=True, kw_only=True, tag="compare_speed"
):
    """Time the engine and `baseline` by turns, under `rule`, at each of `batches` (empty: the model's own). `threads` are those that
    a user asked for."""

    baseline: BaselineEngine
    rule: SpeedRule = SpeedRule()
    batches: tuple[int, ...] = ()
    threads: int = 1
    no_reference_reason: str = ""


class AlternateJob(FlowInputsJob, AnsweredBy[results.AlternateResult], frozen=True, kw_only=True, tag="alternate"):
    """One of two engines, each in a process of its own, that are timed by turns: it is loaded from `artifact_dir`, and run at the
    size `batch` (0: the model's own)."""

    side: AlternatingSide
    artifact_dir: str
    batch: int = 0
    no_reference_reason: str = ""


class DeriveToleranceJob(
    ModelInputsJob, AnsweredBy[results.DeriveToleranceResult], frozen=True, kw_only=True, tag="derive_tolerance"
):
    """Derive the tolerance of the case for an arithmetic, and write it to the folder `tolerance_dir`. `precision` and `allowances` are
    those of `Flow`. With `coarse` it may be a coarse one, beside that folder, where that saves work. `tied` are folders of tolerances
    that are written, too, by another rule for ties ("": half to even)."""

    tolerance_dir: str
    precision: str
    allowances: tuple[str, ...] = ()
    coarse: bool = False
    tied: dict[str, str] = {}

    @property
    def subject(self) -> str:
        """The arithmetic: one run may need several tolerances of a model."""
        return "-".join(("derive", self.precision, *self.allowances))


class ChangeJob(ModelInputsJob, AnsweredBy[results.ChangeResult], frozen=True, kw_only=True, tag="change"):
    """Compare the reference answers of a model with those of its original: no engine takes part. `tolerance_dir` as in `VerifyJob`."""

    tolerance_dir: str = ""

    @property
    def subject(self) -> str:
        """One job for each case, whatever its flows."""
        return CHANGE


class ListMutantsJob(
    FlowInputsJob, AnsweredBy[results.ListMutantsResult], frozen=True, kw_only=True, tag="list_mutants"
):
    """Write the mutants of the model, as the flow transforms it, to the file `output_path`: at most `sites` for each mutation operator,
    chosen by `seed`."""

    output_path: str
    sites: int
    seed: int


class SearchInputsJob(
    EngineJob, AnsweredBy[results.SearchInputsResult], frozen=True, kw_only=True, tag="search_inputs"
):
    """Look for inputs on which the mutant, the last transform of the flow, shows; they are written below the folder `output_dir`."""

    output_dir: str


class MutationScoreJob(FlowJob, AnsweredBy[results.MutationScoreResult], frozen=True, tag="mutation_score"):
    """What the driver sums up of all mutants of a case: no worker does it."""


class ValuesJob(FlowInputsJob, AnsweredBy[results.ValuesResult], frozen=True, kw_only=True, tag="evaluate_values"):
    """Evaluate every inner value of the model in float64 on its sample `sample`, into the folder `values_dir`, with the model as an ONNX
    graph after the transforms of the flow."""

    values_dir: str
    sample: int = 0


class RegionJob(EngineJob, AnsweredBy[results.RegionResult], frozen=True, kw_only=True, tag="verify_region"):
    """Build parts of the graph in `values_dir` as one model, feed them their values from there, and compare what comes out. `windows`
    are the parts, each the places of its nodes in the graph; `outputs` what the model gives ("": what leaves the parts); `taps` are
    inner values that it gives besides. `derive`: judged by a tolerance; False: errors alone. What is off by less than `screen` (relative
    L2) is right without one. `edits` are made first, and all values are evaluated again. `list_passes`: say which passes of the backend
    change the model, and nothing else. `each_pass`: say what the model
    is worth after each. `after`: it is first rewritten by the passes of that flow. `attempt` counts when the same is asked again, `runs`
    are calls of one engine, whose answers are compared. The
    model and its values are left in `save_dir` ("": nowhere)."""

    values_dir: str
    windows: tuple[tuple[int, ...], ...]
    outputs: tuple[str, ...] = ()
    taps: tuple[str, ...] = ()
    edits: tuple[RegionEdit, ...] = ()
    derive: bool = True
    screen: float = 0.0
    list_passes: bool = False
    each_pass: bool = False
    after: Flow | None = None
    attempt: int = 0
    runs: int = 1
    save_dir: str = ""

    @property
    def key(self) -> str:
        """Also what is asked of the graph: many such jobs have one case and flow."""
        place = (self.values_dir, self.windows, self.outputs, self.taps, self.edits, self.save_dir)
        choices = (
            *place,
            self.derive,
            self.screen,
            self.list_passes,
            self.each_pass,
            self.after,
            self.attempt,
            self.runs,
            self.flow,
        )
        return f"{self.case.name}|{self.flow.name}|{self.kind}|{value_digest(choices)[:16]}"


class ScreenJob(FlowJob, AnsweredBy[results.ScreenResult], frozen=True, kw_only=True, tag="screen"):
    """Make the cases of a generator from the index `first` on, at most `count`, and for `seconds`; evaluate each in float64, run
    it and compare. Suspects are left in the folder `corpus`. The index under way stands in the file `progress`, for who finds the worker
    dead. Cases whose index is a multiple of `derive_each` are judged by the derived tolerance, suspects or not (0: none). `near` is a file
    of patterns of a user's models, `learned` one of pairs of operators that a backend rewrites ("": none); `learn`: it is looked for which
    ones this one does. `kept` are cases in files, as paths without endings, in place of those of a generator."""

    generator: str
    version: int
    seed: int
    first: int
    count: int
    seconds: float
    corpus: str
    progress: str
    derive_each: int = 50
    near: str = ""
    kept: tuple[str, ...] = ()
    learned: str = ""
    learn: bool = False

    @property
    def key(self) -> str:
        """With the cases that it is asked for."""
        return f"{self.case.name}|{self.flow.name}|{self.kind}|{self.generator}-{self.seed}-{self.first}-{self.count}"


class LoadJob(FlowJob, AnsweredBy[results.LoadResult], frozen=True, kw_only=True, tag="load"):
    """Send requests to a service at rates of their own: the driver does it, which nothing of the service can hurt. Of a result file of
    another tool nothing is known of `arrivals`. `rule` is that of a comparison with an older service."""

    arrivals: Arrivals = Arrivals()
    rule: SpeedRule | None = None


AnyJob = (
    NoopJob
    | InspectJob
    | ReferenceJob
    | VerifyJob
    | PerNodeJob
    | MeasureJob
    | CompareSpeedJob
    | AlternateJob
    | DeriveToleranceJob
    | ChangeJob
    | ListMutantsJob
    | SearchInputsJob
    | MutationScoreJob
    | ValuesJob
    | RegionJob
    | ScreenJob
    | LoadJob
)
"""Every kind of job: what is read from a message or from the history."""

AnsweredJob = VerifyJob | PerNodeJob | MeasureJob | CompareSpeedJob | AlternateJob
"""Those that run an engine whether anybody has reference answers or not."""

JudgedJob = VerifyJob | ChangeJob
"""Those that judge answers by a tolerance."""

ToleranceJob = JudgedJob | DeriveToleranceJob
"""Those that a tolerance is derived for."""


_Kind = TypeVar("_Kind", bound=Job)


def other_kind(job: Job, kind: type[_Kind], **changes: Any) -> _Kind:
    """A job of another kind about the same case: the fields that both kinds have are taken over, `changes` apart."""
    shared = {name: getattr(job, name) for name in kind.__struct_fields__ if name in job.__struct_fields__}
    return kind(**{**shared, **changes})


def batches_of(job: Job) -> tuple[int, ...]:
    """The batch sizes at which an engine is timed; empty for the model's own, and where nothing is timed."""
    match job:
        case MeasureJob():
            return job.measuring.batches
        case CompareSpeedJob():
            return job.batches
        case AlternateJob():
            return (job.batch,) if job.batch else ()
        case _:
            return ()


def job_digest(job: Job) -> str:
    """Identity of what is asked, folders aside: the same question has the same digest on every machine."""
    measuring = job.measuring if isinstance(job, MeasureJob) else batches_of(job)
    subject = job.flow if isinstance(job, FlowJob) else job.subject
    return value_digest((job.case, subject, job.kind, measuring))
