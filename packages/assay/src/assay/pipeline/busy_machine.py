"""A limit of time that was reached on a busy machine says little of an engine: such a job is asked once more, alone."""

from __future__ import annotations

import os

from msgspec.structs import replace

from assay.core.job import Job
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.pipeline.provenance import usable_cores

BUSY = 2.0
"""Processes that want to run for each core, on average over the last minute, from which on the machine is called busy."""


def load_when_busy() -> str:
    """`40.1 processes for 2 cores`; "" where the machine is not busy, or does not tell."""
    try:
        load = os.getloadavg()[0]
    except OSError:
        return ""
    cores = usable_cores()
    return f"{load:.1f} processes for {cores} core{'s' * (cores != 1)}" if load > BUSY * cores else ""


def is_doubtful(result: Result, job: Job) -> bool:
    """Whether the time limit may be the machine's fault: not of a case that is known never to end."""
    never_ends = job.case.misuse is not None and job.case.misuse.expects == Outcome.TIMEOUT.value
    return result.outcome is Outcome.TIMEOUT and not never_ends


def after_repeat_alone(second: Result, load: str) -> Result:
    """What it gave alone, with what it was like before."""
    attempts = second.attempts + 1
    if second.outcome is Outcome.TIMEOUT:
        detail = f"{second.detail}; it was run twice, the second time alone: the first time the machine had {load}"
        return replace(second, attempts=attempts, detail=detail)
    note = f"it was run again, alone: the first time it reached its time limit while the machine had {load}"
    return replace(second, attempts=attempts, warnings=(*second.warnings, note))
