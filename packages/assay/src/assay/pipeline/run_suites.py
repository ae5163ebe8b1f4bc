"""A run over suites on one page: collect -> count -> select -> make -> plan; then as `assay check`: record -> judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import MeasureJob, VerifyJob
from assay.core.job_base import Job
from assay.core.limits import Limits, Measuring
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.policy import Policy
from assay.core.result import Result
from assay.core.run import ModelSource, Run
from assay.errors import NothingSelected
from assay.pipeline.adapters import Services
from assay.pipeline.check import record_run
from assay.pipeline.machine_peaks import with_roofline_peaks
from assay.pipeline.open_run import Checked
from assay.pipeline.plan import reference_dir
from assay.pipeline.progress import Progress
from assay.pipeline.provenance import PACKAGES, new_run_id, provenance, this_machine
from assay.pipeline.suite_cases.expected_timeouts import limits_of, with_expected_timeouts
from assay.pipeline.suite_cases.suite_contract import collect_cases, make_files
from assay.pipeline.suite_cases.suite_counts import check_counts
from assay.pipeline.suite_cases.suite_select import Chosen, Selection, choose
from assay.pipeline.threads import with_threads
from assay.ports import Suite, count_name, missing_outcome

ADAPTED = "+opset-"
"""Between the name of a flow and the opset to which its models were converted."""


@dataclass(frozen=True, kw_only=True)
class SuiteRequest:
    """What `assay run` was asked. `workers` make cases (0: one per core); `only` keeps one job (`case|flow|kind`). With
    `measuring` cases are measured instead of verified, on each number of `threads`. `adapt_opset` runs cases of a newer opset
    once more, converted to that one, on a flow of their own. With `no_cache` no artifact of an earlier run is loaded."""

    suites: tuple[Suite, ...]
    flows: tuple[Flow, ...]
    seed: int = 0
    selection: Selection = field(default_factory=Selection)
    policy: Policy = field(default_factory=Policy)
    limits: Limits = field(default_factory=Limits)
    command: str = "assay run"
    baseline: str = ""
    only: str = ""
    workers: int = 0
    accept_counts: bool = False
    measuring: Measuring | None = None
    threads: tuple[int, ...] = (1,)
    adapt_opset: int = 0
    no_cache: bool = False
    sources: tuple[ModelSource, ...] = ()


def run_suites(request: SuiteRequest, services: Services) -> Checked:
    """Raises NothingSelected, BrokenSuite and FewerCases before anything ran, HarnessError when the machine fails."""
    chosen = chosen_cases(request, services)
    made, unmade = make(request.suites, chosen.cases, request.workers, services.progress)
    run = _plan(request, made, services, chosen.split)
    known = [
        missing_case_result(job, unmade[job.case.name], request.suites) for job in run.jobs if job.case.name in unmade
    ]
    return services.jobs.complete(record_run(run, services, known))


def chosen_cases(request: SuiteRequest, services: Services) -> Chosen:
    """Those of the suites that are asked for. Raises NothingSelected, BrokenSuite, and FewerCases where a suite shrank."""
    counts: dict[str, int] = {}
    cases: list[Case] = []
    for suite in request.suites:
        services.progress.doing(f"collecting the cases of {suite.name}")
        suite_cases = collect_cases(suite, request.seed)
        counts[count_name(suite)] = len(suite_cases)
        cases += suite_cases
    check_counts(counts, services.folder, accept=request.accept_counts)
    return choose(cases, request.selection, only=request.only)


def make(
    suites: Sequence[Suite], chosen: Sequence[Case], workers: int, progress: Progress
) -> tuple[list[Case], dict[str, str]]:
    """The cases with their files on disk, and why some have none."""
    made: list[Case] = []
    unmade: dict[str, str] = {}
    for suite in suites:
        own = [case for case in chosen if case.name.partition("/")[0] == suite.name]
        progress.doing(f"making {len(own)} cases of {suite.name}")
        for case, reason in make_files(suite, own, workers):
            # Few cases have a second sample to calibrate on.
            made.append(msgspec.structs.replace(case, inputs=msgspec.structs.replace(case.inputs, resampled=True)))
            if reason:
                unmade[case.name] = reason
    return made, unmade


def _plan(request: SuiteRequest, cases: Sequence[Case], services: Services, split: str) -> Run:
    now = datetime.now(UTC)
    run_id = new_run_id(now)
    scratch = str(services.scratch(run_id))
    jobs = tuple(
        _job(case, flow, request, scratch, _reference(case, services))
        for flow in _flows(request)
        for case in cases
        if request.measuring is None or case.misuse is None
    )
    jobs += _converted(jobs, request)
    if request.only:
        jobs = tuple(job for job in jobs if job.key == request.only)
    machine = with_roofline_peaks(this_machine(), request.threads) if request.measuring else this_machine()
    return Run(
        id=run_id,
        command=request.command,
        jobs=jobs,
        policy=with_expected_timeouts(request.policy, cases, request.flows),
        **provenance(now, machine, (*PACKAGES, *sorted({flow.backend for flow in request.flows}))),
        baseline=request.baseline,
        narrowed=bool(request.only) or request.selection.narrows,
        alone=bool(request.only),
        sources=request.sources,
        split=split,
    )


def _job(case: Case, flow: Flow, request: SuiteRequest, scratch: str, reference: str) -> VerifyJob | MeasureJob:
    limits = limits_of(case, request.limits)
    if request.measuring is not None:
        return MeasureJob(
            case, flow, limits=limits, scratch=scratch, measuring=request.measuring, reference_dir=reference
        )
    # Wrong uses are also of what libraries cache, and measuring times the building.
    reuse = case.misuse is None and not request.no_cache
    return VerifyJob(case, flow, limits=limits, scratch=scratch, reference_dir=reference, reuse=reuse)


def with_opset(flow: Flow, opset: int) -> Flow:
    """The lane of converted models: the same flow, its name and its transforms say what was done."""
    name = f"{flow.name}{ADAPTED}{opset}"
    return msgspec.structs.replace(flow, name=name, transforms=(f"opset:{opset}", *flow.transforms))


def _converted(jobs: Sequence[VerifyJob | MeasureJob], request: SuiteRequest) -> tuple[VerifyJob | MeasureJob, ...]:
    """Raises NothingSelected where an opset was asked for and no case needs it; in a share of the cases that may be so."""
    opset = request.adapt_opset
    newer = [job for job in jobs if opset and _opset(job.case) > opset]
    if opset and not newer and request.selection.seconds is None:
        raise NothingSelected(f"--adapt-opset {opset}: no case here has a newer opset")
    return tuple(msgspec.structs.replace(job, flow=with_opset(job.flow, opset)) for job in newer)


def _opset(case: Case) -> int:
    return max(case.model.opsets.get("", 0), case.model.opsets.get("ai.onnx", 0))


def _flows(request: SuiteRequest) -> list[Flow]:
    """Each on every number of threads: a flow of its own, where that is not one."""
    if request.measuring is None:
        return list(request.flows)
    return [
        flow if count == 1 else msgspec.structs.replace(with_threads(flow, count), name=f"{flow.name}-threads{count}")
        for count in request.threads
        for flow in request.flows
    ]


def _reference(case: Case, services: Services) -> str:
    return "" if case.inputs.golden else str(reference_dir(case, services.folder))


def missing_case_result(job: Job, reason: str, suites: Sequence[Suite]) -> Result:
    """As the suite says that such cases end: unsupported, where it says nothing."""
    name = job.case.name.partition("/")[0]
    outcome = next(missing_outcome(suite) for suite in suites if suite.name == name)
    stage = Stage.TRANSFORM if outcome is Outcome.UNSUPPORTED else Stage.START
    blank = empty_result(job, outcome)
    return msgspec.structs.replace(
        blank, stage=stage, cause=Cause.NOT_MADE, detail=f"the case cannot be made: {reason}"
    )
