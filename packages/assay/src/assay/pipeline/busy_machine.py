"""A job that the clock ended while others had the cores has not had its time: it is run once more, when no other job of its run is."""

from __future__ import annotations

from msgspec.structs import replace

from assay.core.job_base import FlowJob, Job
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome
from assay.core.result import Result


def is_doubtful(result: Result, job: Job) -> bool:
    """Whether the time limit may be the machine's fault: not of a case that is known never to end. What is computed beside the engines has
    limits that are short on purpose."""
    never_ends = job.case.misuse is not None and job.case.misuse.expects == Outcome.TIMEOUT.value
    return result.cause is Cause.BUSY_MACHINE and isinstance(job, FlowJob) and not never_ends


def after_repeat_alone(first: Result, second: Result) -> Result:
    """What it gave alone, with what it was like before."""
    attempts = first.attempts + second.attempts
    if second.outcome is Outcome.TIMEOUT:
        detail = f"{second.detail}; it was run twice, the second time when no other job of this run was under way"
        return replace(second, attempts=attempts, detail=detail)
    again = noted(NoteCode.AGAIN_AFTER_BUSY_MACHINE)
    return replace(second, attempts=attempts, notes=(*second.notes, again))
