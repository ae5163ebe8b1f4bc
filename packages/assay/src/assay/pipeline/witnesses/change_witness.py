"""A witness of a change: another engine answers the new model and its original, and its own answers are compared."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.core.case import Case
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.job import ChangeJob, PerNodeJob, ReferenceJob, other_kind
from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.pipeline.references.originals import original_case

Run = Callable[[Job], Coroutine[Any, Any, Result]]
"""One job, to its result."""


async def change_seen_by(flow: Flow, job: ChangeJob, folder: Path, run: Run) -> Result:
    """What comes of the change job where `flow` answers both models instead of the oracle: OK, they are alike to it; MISMATCH, it sees
    the change, too. Else the result of the model that it could not answer. A golden of the original stays the user's word."""
    original = job.case.original
    assert original is not None
    models = {"new": (job.case, job.reference_dir)}
    if not original.golden:
        models["original"] = (_fed_by(original_case(job.case), job.original_dir), job.original_dir)
    answers: dict[str, str] = {}
    for which, (case, reference) in models.items():
        key = value_digest((case.model.digest, reference, job.original_dir, flow.name))[:32]
        answers[which] = str((folder / f"witness-{key}").absolute())
        question = other_kind(job, ReferenceJob, case=case, flow=flow, reference_dir=answers[which])
        if (recorded := await run(question)).outcome is not Outcome.OK:
            return recorded
    return await run(replace(job, reference_dir=answers["new"], original_dir=answers.get("original", job.original_dir)))


async def parting_node(flow: Flow, job: ChangeJob, run: Run) -> str:
    """The first node, of the new model or else of its original (then with that model's name), where `flow` is not what the evaluator
    says on the same inputs; "" where there is none."""
    original = job.case.original
    assert original is not None
    local = other_kind(job, PerNodeJob, flow=flow)
    if node := (await run(local)).node:
        return node
    if not original.model.source:
        return ""
    case = original_case(job.case)
    old = replace(local, case=case, reference_dir="" if original.golden else job.original_dir, original_dir="")
    node = (await run(old)).node
    return f"{node}, in {original.model.name}" if node else ""


def _fed_by(case: Case, golden: str) -> Case:
    return replace(case, inputs=replace(case.inputs, golden=golden))
