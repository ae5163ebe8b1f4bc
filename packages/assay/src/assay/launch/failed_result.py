"""Turning the death of a process into the result of the job it was working on."""

from __future__ import annotations

import signal

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job_base import Job
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result
from assay.core.wire import LOST_CONNECTION
from assay.launch.core_wait import LEAST_SHARE
from assay.launch.job_queue import Pending
from assay.launch.time_limit import TimeLimit

FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT, signal.SIGTRAP, signal.SIGSYS)
"""Signals of what a process does itself. Any other may have been sent by somebody else, who is not known."""


def crashed(job: Job, stage: Stage, code: int | None, *, nearly_full: bool) -> Result:
    """The worker is gone. `code` is its exit code (negative: a signal; None, or LOST_CONNECTION where it has noticed it: it has closed
    its socket).

    SIGKILL that we did not send is the kernel's out-of-memory killer when the worker held most of the memory (`nearly_full`).
    """
    where = f"while in stage {stage.value}"
    if code is not None and code < 0:
        name = _signal_name(-code)
        if -code == signal.SIGKILL and nearly_full:
            text = f"killed {where}, most probably by the kernel: it held most of the machine's memory"
            return _result(job, stage, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, text, name)
        return _result(job, stage, Outcome.CRASH, Cause.SIGNAL, f"{name} {where}", name)
    what = "closed its connection" if code in (None, LOST_CONNECTION) else f"left with exit code {code}"
    return _result(job, stage, Outcome.CRASH, Cause.OTHER, f"the process {what} {where}")


def may_be_sent(result: Result) -> bool:
    """Whether it ended by a signal that anybody may have sent."""
    return bool(result.signal) and result.signal not in {fault.name for fault in FAULTS}


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


def lost_nodes(job: Job, count: int) -> Result:
    """So many machines went while it ran there, the last time without jobs of others beside it."""
    text = (
        f"{count} machines were lost while they had it, the last one with nothing else to do: it takes a machine down, or both failed by "
        "themselves; repeat it on a machine that you can look at"
    )
    return msgspec.structs.replace(_result(job, Stage.START, Outcome.CRASH, Cause.OTHER, text), attempts=count)


def timed_out(job: Job, stage: Stage, over: TimeLimit | None = None, *, stopped: bool = False) -> Result:
    """The supervisor's timer killed it. `over` is the limit that it reached, None where nothing put it off. `stopped`: its process was
    stopped the first time."""
    limit_s = job.limits.importing_s if stage is Stage.IMPORT else job.limits.timeout_s
    limit, waited_s = (over.limit_s, over.waited_s) if over is not None else (limit_s, 0.0)
    text = f"no answer within {limit:g} s while in stage {stage.value}"
    if limit > limit_s:
        text += f" ({limit_s:g} s, on a machine that is {limit / limit_s:.1f} times slower than the one that limits are meant for)"
    if waited_s > LEAST_SHARE * limit:
        text += f" (and {waited_s:.1f} s in which it waited for a core: the machine is busy)"
    if stopped:
        text += "; its process was stopped (SIGSTOP), and it was run again in another"
    busy = over is not None and over.is_put_off_no_more
    return _result(job, stage, Outcome.TIMEOUT, Cause.BUSY_MACHINE if busy else Cause.TIMEOUT, text)


def out_of_memory(job: Job, stage: Stage, resident_bytes: int) -> Result:
    """The supervisor's watchdog killed it."""
    text = (
        f"{resident_bytes / 1e6:.0f} MB resident while in stage {stage.value}; "
        f"the limit is {job.limits.memory_bytes / 1e6:.0f} MB"
    )
    return _result(job, stage, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, text)


def filled_disk(job: Job, stage: Stage, folder: str, written: int, left: int) -> Result:
    """It was ended before nobody could write any more: that blames nobody, for another disk might have had the room."""
    text = (
        f"while in stage {stage.value}, its worker had written {written / 1e6:.0f} MB to {folder}, where {left / 1e6:.0f} MB are left: it "
        "was ended, so that other jobs have room; free some space and check again"
    )
    return _result(job, stage, Outcome.INFRASTRUCTURE, Cause.OTHER, text)


def protocol_error(job: Job, stage: Stage, problem: str) -> Result:
    """The worker sent what is no answer: native code wrote into its socket, or worse."""
    return _result(job, stage, Outcome.CRASH, Cause.OTHER, f"the worker's answer cannot be read ({problem})")


def after_retry(first: Result, second: Result) -> Result:
    """What a crash and its one repeat in a fresh process say together: a crash stays a crash. But a signal that anybody may have sent
    says nothing of the job until the repeat ends by it too."""
    if second.outcome is Outcome.CRASH:
        sent = " both times; whether the process sent it to itself or somebody else did is not known"
        detail = f"{second.detail}{sent}" if may_be_sent(second) and second.signal == first.signal else second.detail
        return msgspec.structs.replace(second, attempts=2, detail=detail)
    if may_be_sent(first):
        again = noted(NoteCode.AGAIN_AFTER_SIGNAL, signal=first.signal, stage=first.stage.value)
        return msgspec.structs.replace(second, attempts=2, notes=(*second.notes, again))
    detail = (
        f"{first.detail}; alone in a fresh process it gave {second.outcome.value}: it crashes only after other jobs"
    )
    return msgspec.structs.replace(first, attempts=2, only_after_other_jobs=True, detail=detail)


def after_stop(result: Result) -> Result:
    """What it gave in another process, when its first one was stopped."""
    if result.outcome is Outcome.TIMEOUT:
        return msgspec.structs.replace(result, attempts=2)
    return msgspec.structs.replace(result, attempts=2, notes=(*result.notes, noted(NoteCode.AGAIN_AFTER_STOP)))


def completed(result: Result, pending: Pending, log: str, jobs_before: int) -> Result:
    """With the sentence of how it ended, what its process printed, how many jobs it had done, and what happened when the job was tried
    before."""
    if result.ended is not None:
        from assay.judge.words.note_text import note_text  # an agent of a cluster starts without what judges

        result = msgspec.structs.replace(result, detail=note_text(result.ended))
    if log or jobs_before:
        result = msgspec.structs.replace(result, log=log, jobs_before=jobs_before)
    if pending.crashed is not None:
        return after_retry(pending.crashed, result)
    return after_stop(result) if pending.stopped else result


def _result(job: Job, stage: Stage, outcome: Outcome, cause: Cause, detail: str, name: str = "") -> Result:
    return msgspec.structs.replace(empty_result(job, outcome), stage=stage, cause=cause, detail=detail, signal=name)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
