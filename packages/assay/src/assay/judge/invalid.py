"""A file that engines of different backends find invalid: the file is at fault, and the verdict says so, with the node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from assay.core.job_base import FlowJob, Job
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result
from assay.judge.draft_verdict import BUILDING, DraftVerdict, unless_said

EXPORT_AGAIN = "export or convert it again"
CHECK = "`onnx.checker.check_model(FILE, full_check=True)` says what else contradicts"
CONVERTED = "where the engine reads ONNX, torch.onnx.export wrote the file: report it to torch, or choose a flow that reads programs"


def is_invalid(result: Result | None) -> bool:
    """Whether an engine, while it built the model, found the file itself invalid."""
    refused = result is not None and result.outcome is Outcome.ERROR and result.cause is Cause.INVALID_MODEL
    return refused and result is not None and result.stage in BUILDING


def to_repair(job: Job | None, alone: bool) -> str:
    """What to do about a file that is not valid: a program of torch is not it, but what the exporter made of it."""
    if job is not None and job.case.model.format != "onnx":
        return CONVERTED
    return f"{EXPORT_AGAIN}{', or ask another engine' if alone else ''}; {CHECK}"


def with_invalid(opinions: Sequence[DraftVerdict], jobs: Mapping[str, Job]) -> list[DraftVerdict]:
    """The opinions of cases that two backends or more find invalid, with all of them named before what this one said."""
    engines: dict[str, dict[str, None]] = {}
    for opinion in opinions:
        if opinion.result is not None and is_invalid(opinion.result):
            engines.setdefault(opinion.result.case, {})[_engine(opinion.result, jobs)] = None
    return [
        replace(opinion, reason=_described(opinion.result, list(engines[opinion.result.case]), jobs))
        if opinion.result is not None and is_invalid(opinion.result) and len(engines[opinion.result.case]) > 1
        else opinion
        for opinion in opinions
    ]


def _engine(result: Result, jobs: Mapping[str, Job]) -> str:
    job = jobs.get(result.job_key)
    return job.flow.backend if isinstance(job, FlowJob) else result.flow


def _described(result: Result, engines: list[str], jobs: Mapping[str, Job]) -> str:
    named = f"{', '.join(engines[:-1])} and {engines[-1]}"
    node = unless_said(result.detail, result.node, f" at node '{result.node}'")
    step = to_repair(jobs.get(result.job_key), alone=False)
    return f"the model is not valid for engines {named}{node}: {result.detail.rstrip('.')}; {step}"
