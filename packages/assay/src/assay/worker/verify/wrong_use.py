"""An exception scenario: right use, wrong use, right use again of one engine."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.dtype import numpy_dtype
from assay.core.empty_result import empty_result
from assay.core.error_case import ErrorCase
from assay.core.finding import Finding, FindingCode, facts
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Stage
from assay.core.result import VerifyResult
from assay.errors import BadModel, Unsupported
from assay.numerics.compare import compare_outputs
from assay.ports import Engine, Tensor
from assay.worker.describe_exception import reason_of
from assay.worker.engine.lower import Lowered, load, lower
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.stages import Stages
from assay.worker.verify.contract_comparison import declaring

Values = Mapping[str, Tensor]
CACHES = (
    "HOME",
    "XDG_CACHE_HOME",
    "TORCHINDUCTOR_CACHE_DIR",
    "TRITON_CACHE_DIR",
    "OPENVINO_CACHE_DIR",
    "TVM_CACHE_DIR",
)
"""Where libraries are told to keep what they compiled."""


def run_error_case(job: VerifyJob, misuse: ErrorCase, stages: Stages) -> VerifyResult:
    """No finding: the wrong use ended as the case says, and the engine gives the right answer before and after. A finding: it
    accepted what is wrong, or is not usable any more. A crash or a hang is told by whoever watches this process."""
    golden = load_golden(job)
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    (sample,), (expected,) = golden.inputs, golden.outputs
    contract = msgspec.structs.replace(job.case.contract, precision=job.flow.precision)
    declared = {spec.name: spec.dtype for spec in declaring(job).outputs} | lowered.rewritten.gives

    def compared(values: Values) -> tuple[tuple[Comparison, ...], tuple[Finding, ...]]:
        return compare_outputs([values], [expected], contract, expected_dtypes=declared)

    with stages.enter(Stage.RUN):
        before = engine.run(lowered.rewritten.fed([sample])[0])
    with stages.enter(Stage.COMPARE):
        comparisons, findings = compared(before)
    if findings or any(comparison.findings for comparison in comparisons):
        first = (*findings, *(finding for comparison in comparisons for finding in comparison.findings))[0]
        before_use = Finding(first.kind, first.output, FindingCode.WRONG_BEFORE_USE, about=first)
        return _result(job, None, comparisons, (before_use, *findings), lowered, engine)
    answer, why = _misused(job, misuse, engine, lowered.rewritten.fed([sample])[0], stages)
    accepted = _accepted(misuse, answer, compared) if answer is not None else ()
    unusable = _again(engine, lowered.rewritten.fed([sample])[0], before, stages)
    differences = (*accepted, *unusable)
    ended = noted(NoteCode.WRONG_USE_ALLOWED) if why is None else noted(NoteCode.WRONG_USE_REFUSED, error=why)
    return _result(job, None if differences else ended, comparisons, differences, lowered, engine)


def _misused(
    job: VerifyJob, misuse: ErrorCase, engine: Engine, sample: Values, stages: Stages
) -> tuple[Values | None, Note | None]:
    """What came of it: the answer, or why it was refused. Raises Unsupported where the flow has no
    such thing to misuse. What is wrong is made before it is tried: a defect of ours must not look like a refusal."""
    attempt = _attempt(job, misuse, engine, sample, stages)
    try:
        return attempt(), None
    except (ImportError, NameError):
        raise
    except Exception as error:  # noqa: BLE001  whatever is raised is the refusal that is looked for
        return None, reason_of(error)


def _attempt(job: VerifyJob, misuse: ErrorCase, engine: Engine, sample: Values, stages: Stages) -> Callable[[], Values]:
    if misuse.kind == "model":
        path = Path(job.case.model.source).with_name(misuse.model)
        if not path.is_file():
            raise BadModel(noted(NoteCode.SUITE_FILE_MISSING, path=str(path)))
        other = msgspec.structs.replace(job.case.model, source=str(path), digest="")
        wrong_job = msgspec.structs.replace(job, case=msgspec.structs.replace(job.case, model=other))
        return lambda: _elsewhere(wrong_job, sample, stages)
    if misuse.kind in ("threads", "cache", "disk"):
        threaded_job = _threaded(job, misuse)

        def spoilt() -> Values:
            with _spoilt(misuse):
                return _elsewhere(threaded_job, sample, stages)

        return spoilt
    feeds = apply_wrong_use(sample, misuse)

    def fed() -> Values:
        with stages.enter(Stage.RUN):
            return dict(engine.run(feeds))

    return fed


def apply_wrong_use(sample: Values, misuse: ErrorCase) -> dict[str, Tensor]:
    """The inputs as the misuse has them; those it does not name stay."""
    feeds = dict(sample)
    if misuse.kind == "extra":
        return {**feeds, "nobody_asked_for_this": np.zeros(2, np.float32)}
    array = feeds.pop(misuse.input)
    if misuse.kind == "missing":
        return feeds
    feeds[misuse.input] = _wrong(array, misuse)
    return feeds


def _wrong(array: Tensor, misuse: ErrorCase) -> Tensor:
    match misuse.kind:
        case "rank":
            return np.ascontiguousarray(array[None])
        case "shape":
            return np.concatenate([array, array[..., -1:]], axis=-1)
        case "empty":
            return np.ascontiguousarray(array[..., :0])
        case "dtype":
            return array.astype(numpy_dtype(misuse.dtype))
        case "value":
            return np.full_like(array, misuse.value)
    raise ValueError(misuse.kind)


def _elsewhere(job: VerifyJob, sample: Values, stages: Stages) -> Values:
    lowered = lower(job, stages)
    engine = load(lowered, job, stages)
    with stages.enter(Stage.RUN):
        return dict(engine.run(lowered.rewritten.fed([sample])[0]))


def _threaded(job: VerifyJob, misuse: ErrorCase) -> VerifyJob:
    if misuse.kind != "threads":
        return job
    from assay.worker.engine.lower import backend_class

    if not any(option.name == "threads" for option in backend_class(job.flow.backend).options):
        raise Unsupported(noted(NoteCode.NO_OPTION_OF_THREADS, backend=job.flow.backend), cause="other")
    flow: Flow = msgspec.structs.replace(job.flow, options={**job.flow.options, "threads": misuse.value})
    return msgspec.structs.replace(job, flow=flow)


@contextmanager
def _spoilt(misuse: ErrorCase) -> Iterator[None]:
    """A cache that cannot be made: below a file. A disk that takes no more: no file of this process may grow past 1 KiB."""
    if misuse.kind == "disk":
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return
    if misuse.kind != "cache":
        yield
        return
    with tempfile.NamedTemporaryFile() as file:
        kept: dict[str, Any] = {name: os.environ.get(name) for name in CACHES}
        os.environ.update(dict.fromkeys(CACHES, f"{file.name}/cache"))
        try:
            yield
        finally:
            for name, value in kept.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _words(error: BaseException) -> str:
    """What a library says itself, however deep it stands in the note of an error of ours; without, the code."""
    reason: object = reason_of(error)
    while isinstance(reason, Note):
        reason = reason.facts.get("error", reason.code)
    return str(reason)[:500]


def _accepted(misuse: ErrorCase, answer: Values, compared: Any) -> tuple[Finding, ...]:
    if misuse.expects == "any":
        return ()
    if misuse.expects == "right":
        comparisons, findings = compared(answer)
        return (*findings, *(finding for comparison in comparisons for finding in comparison.findings))
    outputs = tuple(f"{name} {array.dtype}{list(array.shape)}" for name, array in answer.items())
    use = facts(use=misuse.kind, input=misuse.input, dtype=misuse.dtype, value=misuse.value)
    return (Finding("accepted", "", FindingCode.ACCEPTED, use | facts(outputs=outputs)),)


def _again(engine: Engine, sample: Values, before: Values, stages: Stages) -> tuple[Finding, ...]:
    try:
        with stages.enter(Stage.RUN):
            after = engine.run(sample)
    except Exception as error:  # noqa: BLE001  an engine that raises now is not usable
        return (Finding("unusable", "", FindingCode.REFUSES_AFTERWARDS, facts(error=_words(error))),)
    for name, array in before.items():
        if name not in after or not np.array_equal(array, after[name], equal_nan=array.dtype.kind == "f"):
            return (Finding("unusable", name, FindingCode.CHANGED_AFTERWARDS),)
    return ()


def _result(
    job: VerifyJob,
    ended: Note | None,
    comparisons: tuple[Comparison, ...],
    findings: tuple[Finding, ...],
    lowered: Lowered,
    engine: Engine,
) -> VerifyResult:
    return msgspec.structs.replace(
        empty_result(job),
        ended=ended,
        comparisons=comparisons,
        findings=findings,
        facts=lowered.facts(engine),
    )
