"""Whether an engine that differs from the oracle is right by the other reading of what the standard leaves open."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.core.digest import value_digest
from assay.core.finding import FindingCode
from assay.core.flow import Flow
from assay.core.job import ReferenceJob, VerifyJob, other_kind
from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.reference import ReferenceKind, Witness
from assay.core.result import Result
from assay.core.result_parts import ComparedResult, facts_of
from assay.core.screening import Unspecified
from assay.judge.job_outcome import findings_of
from assay.judge.witnesses import EVALUATOR, Doubt, agrees, doubt_of, library_of_reference

OTHER = Flow(
    name="reference-f64-other-reading",
    backend="reference",
    options={"precision": "float64", "reading": "other"},
    precision="float64",
)
"""The oracle by the other readings of the operators that have one (`OnnxOperator.readings`); it refuses a model that has none."""
Run = Callable[[Job], Coroutine[Any, Any, Result]]
"""One job, to its result."""


def can_be_asked(job: Job, result: ComparedResult) -> bool:
    """Of an engine on the ONNX file as it is, that differs from what the evaluator says."""
    return (
        isinstance(job, VerifyJob)
        and not job.flow.transforms
        and job.case.model.format == "onnx"
        and bool(job.reference_dir)
        and result.outcome is Outcome.MISMATCH
        and result.reference.kind is ReferenceKind.ORACLE
        and doubt_of(result) is Doubt.REFERENCE
        and library_of_reference(result) == EVALUATOR
    )


async def read_otherwise(job: VerifyJob, folder: Path, run: Run) -> tuple[str, str]:
    """The folder of its answers to the same inputs, and what the standard does not say; both "" where there is one reading alone."""
    key = value_digest((job.case.model.digest, job.reference_dir, OTHER.name))[:32]
    answers = str((folder / f"witness-{key}").absolute())
    fed = replace(job.case, inputs=replace(job.case.inputs, golden=job.reference_dir))
    recorded = await run(other_kind(job, ReferenceJob, case=fed, flow=OTHER, reference_dir=answers))
    reading = facts_of(recorded).options.get("reading", "")
    return (answers, reading) if recorded.outcome is Outcome.OK and reading else ("", "")


async def right_otherwise(
    job: VerifyJob, result: ComparedResult, answers: str, reading: str, run: Run
) -> Witness | None:
    """The witness that the engine is right by the other reading, under the very limits under which it is wrong by the first: wider ones
    would have a wrong engine be right by any reading. None where it is not, or where it is wrong at sizes at which the readings are one
    under these limits: near both of them, an engine just past its limits is within those of the other by chance."""
    case = replace(job.case, inputs=replace(job.case.inputs, dims={}))
    question = replace(job, case=case, reference_dir=answers, save_inputs="", save_outputs="")
    if agrees(await run(question)) is not True:
        return None
    blamed = _places(result)
    apart = blamed & _places(await run(_readings_compared(job)))
    if not apart or {sizes for _, sizes in blamed} != {sizes for _, sizes in apart}:
        return None
    codes = tuple(Unspecified(code) for code in reading.split())
    return Witness(OTHER.name, EVALUATOR, agrees_with_reference=False, agrees_with_engine=True, reading=codes)


def _readings_compared(job: VerifyJob) -> VerifyJob:
    """The other reading in the place of the engine: under the engine's own limits, at all of its sizes."""
    flow = replace(OTHER, precision=job.flow.precision, allowances=job.flow.allowances)
    return replace(job, flow=flow, save_inputs="", save_outputs="")


def _places(result: Result) -> set[tuple[str, str]]:
    """The outputs that something was found wrong with, each with the sizes ("": those of the samples)."""
    if not isinstance(result, ComparedResult):
        return set()
    return {
        (finding.output, str(finding.facts["sizes"]) if finding.code is FindingCode.AT_SIZES else "")
        for finding in findings_of(result)
    }
