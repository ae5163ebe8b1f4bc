"""Reference outputs for cases without goldens: computed once per model and inputs, by a job of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import AnsweredJob, AnyJob, ReferenceJob, VerifyJob, other_kind
from assay.core.job_base import (
    EngineJob,
    FlowJob,
    InputsJob,
    Job,
    RefusalCache,
)
from assay.core.limits import Limits
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.errors import BadGolden, BadInputs
from assay.models.golden_checks import file_problems
from assay.models.goldens import read_lock
from assay.pipeline.adapters import Services
from assay.plugins import find_flow, library_of

ORACLES = {
    "onnx": ("reference-f64", "reference", "onnxruntime-disable", "openvino-f32", "torch-eager"),
    "torch": ("torch-eager-f64", "torch-eager"),
}
"""By the format of the model, tried in this order: the float64 evaluation, then the model's own precision where double is
not possible, then a runtime that has operators which the standard does not have. Which one it was, and why, is kept with
the answers, and told with the result. Where none has an answer the engines of the run are asked themselves."""


SHARE_AFTER_TIMEOUT = 0.1
"""Of the time limit for each oracle that is asked after one has used all of it: a runtime is that much faster than an evaluation in
numpy. Another oracle of the library that had the time has none."""
OTHERS_SHARE = 2 * SHARE_AFTER_TIMEOUT
"""Of the time limit for all of those together."""


def shortened(limits: Limits) -> Limits:
    """For an answer that is there soon, or not worth to be waited for."""
    return msgspec.structs.replace(
        limits, timeout_s=max(SHARE_AFTER_TIMEOUT * limits.timeout_s, min(1.0, limits.timeout_s))
    )


async def ensure_references(jobs: Sequence[Job], services: Services) -> list[Result]:
    """Make sure that every one of these jobs of one case has its reference. Returns the results of the jobs that cannot have one: an
    error where the model is not valid by the standard, or where no inputs were found that it takes (`is_wrong_input`); mistrusted where
    nothing can compute it; infrastructure where the machine was the reason."""
    fed = [job for job in jobs if isinstance(job, InputsJob) and job.reference_dir]
    refusals: dict[str, list[Result]] = {}
    for folder, job in {job.reference_dir: job for job in fed}.items():
        async with services.jobs.lock(folder):
            refused = await _compute(job, jobs, services)
        if refused is not None:
            refusals[folder] = refused
    return [_without(job, refusals[job.reference_dir]) for job in fed if job.reference_dir in refusals]


async def _compute(job: InputsJob, jobs: Sequence[Job], services: Services) -> list[Result] | None:
    """Asks one after another until there is an answer: then None. Else what they said."""
    refusals: list[Result] = []
    used_s = 0.0  # by those that were asked after one had used up its time
    while not _there(job.reference_dir):
        if (oracle := _next(job, refusals, jobs)) is None:
            return refusals
        before = "; ".join(f"{refusal.flow}: {refusal.outcome.value}, {refusal.detail}" for refusal in refusals)
        # What an oracle refuses is asked again: its code is no part of what a kept refusal is named by.
        recording = other_kind(job, ReferenceJob, flow=oracle, refusals_before=before, refusals=RefusalCache.UNUSED)
        late = any(refusal.outcome is Outcome.TIMEOUT for refusal in refusals)
        if late and used_s >= OTHERS_SHARE * job.limits.timeout_s:
            return refusals
        if late:
            recording = msgspec.structs.replace(recording, limits=shortened(job.limits))
        refusals.append(result := await services.jobs.run(recording))
        used_s += recording.limits.timeout_s if late and result.outcome is Outcome.TIMEOUT else 0.0
        if len(refusals) == 1:
            _keep_time(job, result, services)
    return None


async def are_late(job: InputsJob, services: Services) -> bool:
    """Whether the first oracle of this job has no answer soon. Where it has one, the answers are there."""
    if _there(job.reference_dir) or (oracle := _next(job, (), ())) is None:
        return False
    trial = other_kind(job, ReferenceJob, flow=oracle, refusals=RefusalCache.UNUSED, limits=shortened(job.limits))
    if trial.limits.timeout_s >= job.limits.timeout_s:
        return False
    async with services.jobs.lock(job.reference_dir):
        result = await services.jobs.run(trial)
    if result.outcome is Outcome.OK:
        _keep_time(job, result, services)
    return result.outcome is Outcome.TIMEOUT and result.stage is Stage.RUN


def _keep_time(job: InputsJob, result: Result, services: Services) -> None:
    """Of the first oracle, whose evaluation is what a derivation repeats."""
    if result.outcome in (Outcome.OK, Outcome.TIMEOUT):
        services.evaluated_s[job.reference_dir] = result.seconds if result.outcome is Outcome.OK else math.inf


def is_wrong_input(result: Result) -> bool:
    """Whether `ensure_references` says of a job that its inputs are wrong."""
    return result.outcome is Outcome.ERROR and result.cause is Cause.WRONG_USAGE


def wrong_labels(jobs: Sequence[Job], verified: Result) -> list[Result]:
    """Where a verify job found that what its case compares by is wrong (labels, or options of its task), the results of that and of
    the other jobs of its engine, which are not asked. Empty where it did not."""
    if not is_wrong_input(verified) or verified.stage is not Stage.COMPARE:
        return []
    others = [
        job
        for job in jobs
        if isinstance(job, EngineJob)
        and job.key != verified.job_key
        and (job.case.name, job.subject) == (verified.case, verified.flow)
    ]
    return [
        verified,
        *(
            msgspec.structs.replace(
                empty_result(job, verified.outcome), stage=verified.stage, cause=verified.cause, detail=verified.detail
            )
            for job in others
        ),
    ]


def reject_wrong_inputs(lacking: Sequence[Result], jobs: Sequence[Job]) -> None:
    """Raises BadInputs where nothing is left of a run for want of inputs."""
    if lacking and len(lacking) == len(jobs) and all(map(is_wrong_input, lacking)):
        raise BadInputs("\n".join(dict.fromkeys(result.detail for result in lacking)))


def _refusing(refusals: Sequence[Result]) -> dict[str, Result]:
    """By library, the first of each that built the model and refuses its inputs."""
    ran = [refusal for refusal in refusals if refusal.outcome is Outcome.ERROR and refusal.stage is Stage.RUN]
    by_library: dict[str, Result] = {}
    for result in ran:
        by_library.setdefault(library_of(result.flow), result)
    return by_library


def _wrong_inputs(job: Job, refusals: Sequence[Result]) -> str:
    """What keeps all inputs from being taken: a constraint of the graph that is not met, or two oracles of which each refuses,
    while it runs, whatever was tried, or two libraries that refuse what was given. "" where something else is wrong."""
    unmet = next((refusal.detail for refusal in refusals if refusal.cause is Cause.WRONG_USAGE), "")
    able = [refusal for refusal in refusals if refusal.outcome not in (Outcome.UNSUPPORTED, Outcome.UNAVAILABLE)]
    ran = [result for result in able if result.outcome is Outcome.ERROR and result.stage is Stage.RUN]
    refusing = _refusing(refusals)
    if job.case.inputs.given and not unmet and len(refusing) > 1:
        named = " and ".join(result.flow for result in refusing.values())
        first = next(iter(refusing.values()))
        sentence = f"'{job.case.name}' does not take the inputs that were given: {first.detail}"
        return f"{sentence} ({named} refuse them); correct them, or give others"
    # One that could not build the model says nothing of the inputs, where two libraries do.
    if unmet or len(ran) < 2 or (len(ran) < len(able) and len(refusing) < 2):
        return unmet
    first = ran[0]
    return (
        f"no inputs were found that '{first.case}' takes: {first.detail} ({first.flow}; {len(ran)} of {len(able)} oracles refuse "
        "all that was tried); state sizes with --dim, values with --input-range or --input-value, or give a golden with --golden"
    )


def without_reference(jobs: Sequence[AnyJob], lacking: Sequence[Result]) -> tuple[list[AnyJob], list[Result]]:
    """The same jobs, and the results of those that nothing can be done for. Those that run an engine for which nobody has an answer
    run all the same, and know why: whether it takes the model at all, and without a crash, is an answer, too. Not where memory is short:
    that the engine runs out of it, too, is no answer."""
    running = {job.key for job in jobs if isinstance(job, AnsweredJob)}
    open_results = [
        result
        for result in lacking
        if result.outcome is Outcome.MISTRUSTED
        and result.cause is not Cause.OUT_OF_MEMORY
        and result.job_key in running
    ]
    reasons = {result.job_key: result.detail for result in open_results}
    probes = [
        unanswered(job, reasons[job.key]) if isinstance(job, AnsweredJob) and job.key in reasons else job
        for job in jobs
    ]
    return probes, [result for result in lacking if result.job_key not in reasons]


def unanswered(job: AnsweredJob, reason: str) -> AnsweredJob:
    """The job, run without reference answers."""
    judged = {"tolerance_dir": ""} if isinstance(job, VerifyJob) else {}
    return msgspec.structs.replace(job, reference_dir="", no_reference_reason=reason, **judged)


def _next(job: Job, refusals: Sequence[Result], jobs: Sequence[Job]) -> Flow | None:
    """Who is asked next: an oracle, or a flow of the run whose library has not been asked. Nobody where the model is invalid, or
    where the graph says what is wrong with the inputs, and an evaluator agrees: a laxer runtime's answer would prove nothing."""
    if any(_is_invalid(refusal, job) or refusal.cause is Cause.WRONG_USAGE for refusal in refusals):
        return None
    if job.case.inputs.given and len(_refusing(refusals)) > 1:
        return None
    if _needs_too_much(refusals):
        return None
    refused = {refusal.flow for refusal in refusals}
    late = {library_of(refusal.flow) for refusal in refusals if refusal.outcome is Outcome.TIMEOUT}
    short = {library_of(refusal.flow) for refusal in refusals if refusal.outcome is Outcome.OUT_OF_MEMORY}
    # In the model's own precision half the memory may do, but a runtime needs no more than that, and takes less time.
    for name in sorted(ORACLES.get(job.case.model.format, ()), key=lambda name: library_of(name) in short):
        if name not in refused and library_of(name) not in late:
            return find_flow(name)
    libraries = {library_of(refusal.flow) for refusal in refusals}
    flows = (other.flow for other in jobs if isinstance(other, FlowJob) and other.case.name == job.case.name)
    engines = [flow for flow in flows if not flow.transforms]
    return next(
        (engine for engine in engines if engine.name not in refused and library_of(engine) not in libraries), None
    )


def _needs_too_much(refusals: Sequence[Result]) -> bool:
    """Whether two libraries ran out of memory: the evaluator, and a runtime, which needs half of what double takes and keeps no value
    longer than it is read. Who is asked next needs as much."""
    return len({library_of(refusal.flow) for refusal in refusals if refusal.outcome is Outcome.OUT_OF_MEMORY}) > 1


def _there(folder: str) -> bool:
    """Whole: what a full disk or a killed run left is computed again."""
    try:
        return not list(file_problems(Path(folder), read_lock(Path(folder))))
    except BadGolden:
        return False


def _is_invalid(refusal: Result, job: Job) -> bool:
    """By the checker of its own format. What the loader of a runtime says of a model (or of what it made of one) is that runtime's
    opinion."""
    first, *_ = ORACLES.get(job.case.model.format, ("",))
    return refusal.cause is Cause.INVALID_MODEL and library_of(refusal.flow) == library_of(first)


def _without(job: Job, refusals: Sequence[Result]) -> Result:
    invalid = next((refusal for refusal in refusals if _is_invalid(refusal, job)), None)
    if invalid is not None:
        blank = empty_result(job, Outcome.ERROR)
        text = f"the model is broken: {invalid.detail} ({invalid.flow})"
        return msgspec.structs.replace(blank, stage=Stage.LOWER, cause=Cause.INVALID_FILE, detail=text)
    if wrong := _wrong_inputs(job, refusals):
        return msgspec.structs.replace(empty_result(job, Outcome.ERROR), cause=Cause.WRONG_USAGE, detail=wrong)
    ours = not refusals or any(refusal.outcome is Outcome.INFRASTRUCTURE for refusal in refusals)
    first, *others = (
        (f"{refusal.flow}: {refusal.outcome.value}" for refusal in refusals) if refusals else ("nothing was tried",)
    )
    why = "; ".join([f"{first}, {refusals[0].detail}" if refusals else first, *others])
    text = f"no reference outputs for '{job.case.name}' ({why})"
    blank = empty_result(job, Outcome.INFRASTRUCTURE if ours else Outcome.MISTRUSTED)
    if (
        _needs_too_much(refusals) and not job.limits.memory_bytes
    ):  # a limit that is stated is a demand on the engine, too
        needing = " and ".join(refusal.flow for refusal in refusals if refusal.outcome is Outcome.OUT_OF_MEMORY)
        text = f"'{job.case.name}' needs more memory than there is: {needing} ran out of it ({refusals[0].detail})"
        return msgspec.structs.replace(blank, detail=text, cause=Cause.OUT_OF_MEMORY)
    return msgspec.structs.replace(blank, detail=text, cause=Cause.NO_REFERENCE)
