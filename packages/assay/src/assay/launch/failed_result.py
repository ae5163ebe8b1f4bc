"""Turning the death of a process into the result of the job it was working on."""

from __future__ import annotations

import signal

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job import Job
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result


def crashed(job: Job, stage: Stage, code: int | None, *, nearly_full: bool) -> Result:
    """The worker's socket closed. `code` is its exit code (negative: a signal; None: it lives on without its socket).

    SIGKILL that we did not send is the kernel's out-of-memory killer when the worker held most of the memory
    (`nearly_full`), and the machine's doing otherwise.
    """
    if code is not None and code < 0:
        name = _signal_name(-code)
        if -code == signal.SIGKILL:
            return _killed_from_outside(job, stage, nearly_full)
        return _result(job, stage, Outcome.CRASH, Cause.SIGNAL, f"{name} while in stage {stage.value}", name)
    what = "closed its connection" if code is None else f"left with exit code {code}"
    return _result(job, stage, Outcome.CRASH, Cause.OTHER, f"the process {what} while in stage {stage.value}")


def _killed_from_outside(job: Job, stage: Stage, nearly_full: bool) -> Result:
    if nearly_full:
        text = f"killed while in stage {stage.value}, most probably by the kernel: it held most of the machine's memory"
        return _result(job, stage, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, text, "SIGKILL")
    text = f"killed from outside (SIGKILL) while in stage {stage.value}; nothing is known about the job: run it again"
    return _result(job, stage, Outcome.INFRASTRUCTURE, Cause.SIGNAL, text, "SIGKILL")


_UNDERSTOOD = frozenset({Cause.REFUSED, Cause.INVALID_MODEL})
"""Errors that a backend raised in words of its own: its process is as good as before."""


def is_suspect(result: Result) -> bool:
    """Whether the process that gave this result is not used again."""
    if result.outcome is Outcome.ERROR:
        return result.cause not in _UNDERSTOOD
    return result.outcome is Outcome.OUT_OF_MEMORY


def no_environment(job: Job, why: str) -> Result:
    """Its worker's interpreter cannot be had."""
    return _result(job, Stage.START, Outcome.UNAVAILABLE, Cause.NO_ENVIRONMENT, why)


def timed_out(job: Job, stage: Stage) -> Result:
    """The supervisor's timer killed it."""
    limit = job.limits.importing_s if stage is Stage.IMPORT else job.limits.timeout_s
    text = f"no answer within {limit:g} s while in stage {stage.value}"
    return _result(job, stage, Outcome.TIMEOUT, Cause.TIMEOUT, text)


def out_of_memory(job: Job, stage: Stage, resident_bytes: int) -> Result:
    """The supervisor's watchdog killed it."""
    text = (
        f"{resident_bytes / 1e6:.0f} MB resident while in stage {stage.value}; "
        f"the limit is {job.limits.memory_bytes / 1e6:.0f} MB"
    )
    return _result(job, stage, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, text)


def protocol_error(job: Job, stage: Stage, problem: str) -> Result:
    """The worker sent what is no answer: native code wrote into its socket, or worse."""
    return _result(job, stage, Outcome.CRASH, Cause.OTHER, f"the worker's answer cannot be read ({problem})")


def after_retry(first: Result, second: Result) -> Result:
    """What a crash and its one repeat in a fresh process say together: a crash stays a crash."""
    if second.outcome is Outcome.CRASH:
        return msgspec.structs.replace(second, attempts=2)
    detail = (
        f"{first.detail}; alone in a fresh process it gave {second.outcome.value}: it crashes only after other jobs"
    )
    return msgspec.structs.replace(first, attempts=2, only_after_other_jobs=True, detail=detail)


def _result(job: Job, stage: Stage, outcome: Outcome, cause: Cause, detail: str, name: str = "") -> Result:
    return msgspec.structs.replace(empty_result(job, outcome), stage=stage, cause=cause, detail=detail, signal=name)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
