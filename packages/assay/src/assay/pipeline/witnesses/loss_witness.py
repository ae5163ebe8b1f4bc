"""Who says whether the answers of a float model are right, where a loss beyond a limit is measured by them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from msgspec.structs import replace

from assay.core.flow import Flow
from assay.core.job import ChangeJob, JudgedJob, PerNodeJob, VerifyJob, other_kind
from assay.core.job_base import Job
from assay.core.reference import ReferenceKind, Witness
from assay.core.result import Result
from assay.core.result_parts import LossResult
from assay.judge.doubtful_loss import measured_by
from assay.judge.witnesses import EVALUATOR, agrees
from assay.pipeline.references.originals import original_case
from assay.pipeline.witnesses.witness_flows import fairly_judged
from assay.plugins import library_of

Run = Callable[[Job], Coroutine[Any, Any, Result]]
"""One job, to its result."""


def float_questions(flow: Flow, job: JudgedJob, result: LossResult) -> list[VerifyJob]:
    """The jobs of `flow` that verify the answers by which the loss of this one is measured: those of the model itself where a
    flow quantizes it, or where it is compared with its original; and those of the original. Where answers were given for an original
    that is there, too, whether they are its own."""
    plain = other_kind(job, VerifyJob, flow=flow, tolerance_dir="", save_inputs="", save_outputs="")
    original = job.case.original
    if original is None:
        return [plain]
    old = replace(
        plain, case=original_case(job.case), reference_dir="" if original.golden else job.original_dir, original_dir=""
    )
    if result.float_reference.kind is ReferenceKind.GIVEN:
        return [old]
    questions = [plain] if isinstance(job, ChangeJob) or job.flow.transforms else []
    return questions if original.golden else [*questions, old]


async def loss_witness(flow: Flow, judged_job: JudgedJob, result: LossResult, run: Run) -> Witness:
    """Whether `flow` gives the reference's answers to all questions; where it does not to one, the node where they part."""
    blank = Witness(flow.name, library_of(flow))
    questions = float_questions(flow, judged_job, result)
    for question in questions:
        job = replace(question, case=fairly_judged(question.case, flow))
        testimony = await run(job)
        if (right := agrees(testimony)) is False:
            local = other_kind(job, PerNodeJob)
            node = (await run(local)).node if measured_by(result).library == EVALUATOR else ""
            return replace(blank, agrees_with_reference=False, node=node)
        if right is None:
            text = f"{testimony.outcome.value.replace('_', ' ')}, {testimony.detail}".rstrip(", ")
            return replace(blank, detail=text)
    return replace(blank, agrees_with_reference=bool(questions) or None)
