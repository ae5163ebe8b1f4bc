"""Execute one job: the only place where any exception of the thing under test becomes an outcome."""

from __future__ import annotations

import platform
import traceback
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from time import perf_counter
from typing import cast

import msgspec

import assay.worker.verify.verify  # noqa: F401  what nearly all workers do: imported while they wait for the first job
from assay import plugins
from assay.core.empty_result import empty_result
from assay.core.job import (
    AlternateJob,
    ChangeJob,
    CompareSpeedJob,
    DeriveToleranceJob,
    InspectJob,
    MeasureJob,
    PerNodeJob,
    ReferenceJob,
    RegionJob,
    ValuesJob,
    VerifyJob,
)
from assay.core.job_base import FlowJob, InputsJob, Job
from assay.core.note import LONGEST, Note, NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.refusals.backend_codes import BackendCode
from assay.core.result import AnyResult, EngineResult
from assay.core.result_parts import FedResult
from assay.core.wire import encodable
from assay.errors import (
    AssayError,
    BadGolden,
    BadModel,
    BrokenMetric,
    EndpointBroke,
    EndpointFailed,
    InvalidModel,
    Lowering,
    NotRunnable,
    PeerFailed,
    Unavailable,
    Undelegated,
    Unsupported,
    UsageError,
)
from assay.ports import ReadsWarnings
from assay.worker.describe_exception import exception_text, type_name
from assay.worker.engine.lower import backend_class
from assay.worker.failed_tool import failed_tool
from assay.worker.full_disk import DiskFull, full_disk_reported
from assay.worker.native_log import warned_by
from assay.worker.native_warnings import bounded, distinct, note_of, parted, read_warnings
from assay.worker.scratch_dir import scratch_dir
from assay.worker.stages import Stages

HANDLERS: dict[type[Job], str] = {
    InspectJob: "reference.compute_reference:inspect",
    ReferenceJob: "reference.compute_reference:compute_reference",
    VerifyJob: "verify.verify:verify",
    MeasureJob: "timing.measure:measure",
    CompareSpeedJob: "timing.compare_speed:compare_speed",
    AlternateJob: "timing.alternating_side:alternate",
    DeriveToleranceJob: "reference.derive_tolerance:derive_tolerance",
    ChangeJob: "inputs.original:compare_change",
    PerNodeJob: "per_node.per_node:compare_per_node",
    ValuesJob: "regions.evaluate_values:evaluate_values",
    RegionJob: "regions.verify_region:verify_region",
}
"""Module and function below this package: a worker imports what it is asked for."""


def execute(job: Job, stages: Stages) -> AnyResult:
    """Exactly one result, whatever happens short of the death of the process."""
    started = datetime.now(UTC).isoformat(timespec="milliseconds")
    begin = perf_counter()
    with warned_by() as caught:
        try:
            with scratch_dir(job.scratch) as own, full_disk_reported(own):
                observed = _handler_of(type(job))(msgspec.structs.replace(job, scratch=own), stages)
        except BaseException as error:  # noqa: BLE001  the wall: whatever a backend raises is an observation, not our failure
            observed = _failure(job, error, stages)
    library, own_notes = parted(caught) if isinstance(observed, EngineResult) else ([], caught)
    notes = tuple(dict.fromkeys(bounded(note_of(warning_message)) for warning_message in own_notes))
    if isinstance(observed, EngineResult) and isinstance(job, FlowJob):
        observed = _with_native_warnings(observed, job, stages, library)
    return msgspec.structs.replace(
        observed,
        stage=stages.reached,
        stage_times=tuple(stages.times),
        notes=observed.notes + notes[:20],
        started_at=started,
        versions=observed.versions or _versions(job.flow.backend if isinstance(job, FlowJob) else ""),
        seconds=perf_counter() - begin,
    )


def _with_native_warnings(
    observed: AnyResult, job: FlowJob, stages: Stages, caught: Sequence[warnings.WarningMessage]
) -> AnyResult:
    """Of the engine of this job. Where another engine is loaded beside it nobody can say whose words were printed."""
    backend = None
    with suppress(Exception):  # the job has met it before, and reports it
        backend = backend_class(job.flow.backend)()
    alone = not _two_engines(job)
    printed, logged = (stages.printed, stages.logged) if alone else ((), ())
    native_warnings = distinct([*stages.warned, *read_warnings(backend, printed, logged, caught)])
    return msgspec.structs.replace(
        observed, native_warnings=native_warnings, reads_warnings=isinstance(backend, ReadsWarnings) and alone
    )


def _two_engines(job: Job) -> bool:
    return isinstance(job, CompareSpeedJob | AlternateJob)


def _versions(backend: str) -> dict[str, str]:
    """None where they cannot be read: a backend may have used up all open files."""
    with suppress(Exception):  # whatever the metadata of a library, or a full table of files, make it raise
        return library_versions(backend)
    return {}


@cache
def _handler_of(kind: type[Job]) -> Callable[[Job, Stages], AnyResult]:
    """Ours, or one that lives above the worker and comes in by its entry point, under the tag of the type."""
    if kind not in HANDLERS:
        tag = str(kind.__struct_config__.tag)
        return cast(Callable[[Job, Stages], AnyResult], plugins.load("assay.job_handlers", tag))
    module, _, name = HANDLERS[kind].partition(":")
    return cast(Callable[[Job, Stages], AnyResult], getattr(import_module(f"assay.worker.{module}"), name))


BUILDING = (Stage.TRANSFORM, Stage.LOWER)
"""Stages in which a library that fails on a valid model does not support it, whatever its words."""


def _failure(job: Job, error: BaseException, stages: Stages) -> AnyResult:
    if (missing := _not_installed(job, error)) is not None:
        error = missing
    try:
        outcome, cause = _classify(error, stages.reached)
        if issubclass(type(error), BadGolden) and _is_ours(job, cast(BadGolden, error)):
            outcome, cause = Outcome.INFRASTRUCTURE, Cause.OTHER
    except BaseException:  # noqa: BLE001  what it says of itself is code of the backend
        outcome, cause = Outcome.ERROR, Cause.OTHER
    ended = _ending(error, stages)
    failed = msgspec.structs.replace(empty_result(job, outcome), cause=cause, ended=ended, node=_node_of(error))
    if isinstance(failed, EngineResult):
        failed = msgspec.structs.replace(failed, facts=stages.built)
    return msgspec.structs.replace(failed, inputs=stages.inputs) if isinstance(failed, FedResult) else failed


def _is_ours(job: Job, error: BadGolden) -> bool:
    """What cannot be read is answers of our own making, which were whole when they were made; a golden and data that are given are the
    user's."""
    if error.note is None or not isinstance(job, InputsJob):
        return False
    original = job.case.original
    read = "" if job.case.inputs.golden or isinstance(job, ReferenceJob) else job.reference_dir
    ours = [read, job.original_dir if original is not None and not original.golden else ""]
    about = [Path(fact) for fact in error.note.facts.values() if isinstance(fact, str)]
    return any(path.is_relative_to(folder) for folder in ours if folder for path in about)


def _not_installed(job: Job, error: BaseException) -> Unavailable | None:
    """What is left of a library that was removed on this node is imported as an empty folder: only its names are missing then,
    whatever a backend makes of that."""
    if not isinstance(job, FlowJob):
        return None
    with suppress(BaseException):  # what a backend's error or the interpreter cannot say: the error itself is reported
        causes = [error]
        while (cause := causes[-1].__cause__) is not None and cause not in causes:
            causes.append(cause)
        if not any(issubclass(type(cause), AttributeError) for cause in causes):
            return None
        here = plugins.availability(job.flow.backend)
        if not here.available:
            return Unavailable(noted(BackendCode.NOT_AVAILABLE, error=here.reason, install=here.install))
    return None


def _ending(error: BaseException, stages: Stages) -> Note:
    """The words of an error that is raised for a reader are all there is to say; of any other its type and stage are, too."""
    # `isinstance` asks the error itself, which may fail
    if issubclass(type(error), AssayError) and (note := cast(AssayError, error).note) is not None:
        return bounded(note)
    name = type_name(error)
    text = (exception_text(error) or name)[:LONGEST]
    if tool := failed_tool(error, text, stages.printed):
        return tool
    if issubclass(type(error), (Lowering, UsageError, BrokenMetric, EndpointFailed)):
        return noted(NoteCode.REFUSED, error=text)
    with suppress(BaseException):  # its words may be code that fails, and the stream may be gone
        traceback.print_exc()
    return noted(NoteCode.RAISED, exception=name, stage=stages.reached.value, error=text)


def _node_of(error: BaseException) -> str:
    with suppress(Exception):  # an attribute of the backend's own error: reading it may be code that fails
        return encodable(str(getattr(error, "node", "")))
    return ""


def _classify(error: BaseException, stage: Stage) -> tuple[Outcome, Cause]:
    match error:
        case DiskFull() | BrokenMetric():
            return Outcome.INFRASTRUCTURE, Cause.OTHER
        case EndpointFailed():
            return (Outcome.TIMEOUT, Cause.TIMEOUT) if error.late else (Outcome.INFRASTRUCTURE, Cause.OTHER)
        case EndpointBroke():
            return Outcome.ERROR, Cause.OTHER
        case Unsupported():
            return Outcome.UNSUPPORTED, Cause(error.cause)
        case Undelegated():
            return Outcome.UNDELEGATED, Cause.OPERATOR_UNSUPPORTED
        case InvalidModel() | BadModel():
            return Outcome.ERROR, Cause.INVALID_MODEL
        case UsageError():
            return Outcome.ERROR, Cause.WRONG_USAGE
        case NotRunnable() if stage in (Stage.LOAD, Stage.RUN, Stage.MEASURE):
            return Outcome.LOWERED, Cause.MISSING_DEVICE
        case Unavailable():
            return Outcome.UNAVAILABLE, Cause.NOT_INSTALLED
        case PeerFailed():
            return Outcome.ERROR, Cause.PEER_FAILED
        case ImportError() if stage is Stage.IMPORT:
            return Outcome.UNAVAILABLE, Cause.MISSING_LIBRARY
        case MemoryError():
            return Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY
        case Lowering() if stage in BUILDING:
            return Outcome.UNSUPPORTED, Cause.REFUSED
        case Lowering():
            return Outcome.ERROR, Cause.REFUSED
        case _:
            return Outcome.ERROR, Cause.OTHER


_ALWAYS = ("numpy", "onnx")


@cache
def _here() -> dict[str, str]:
    return {"python": platform.python_version(), **{name: metadata.version(name) for name in _ALWAYS}}


@cache
def library_versions(backend: str) -> dict[str, str]:
    """Of Python, of what every worker uses, and of the backend's library under the backend's name."""
    version = plugins.availability(backend).version if backend else ""
    return {**_here(), backend: version} if version else dict(_here())
