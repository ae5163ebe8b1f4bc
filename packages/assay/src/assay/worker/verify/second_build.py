"""The same model built once more, with another number of threads where the backend has such an option."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import msgspec

from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.core.outcome import Stage
from assay.errors import AssayError
from assay.ports import Backend
from assay.worker.engine.lower import load, lower
from assay.worker.stages import Stages
from assay.worker.verify.call_log import Answer, CallLog
from assay.worker.verify.same_bytes import same_answer

THREADS = "threads"
_BUILDING = (Stage.TRANSFORM, Stage.LOWER, Stage.SAVE, Stage.LOAD)


@dataclass(frozen=True)
class Build:
    """Another engine. `answers` are those that differ from the first ones in any bit, by sample; `threads` 0: as many as before."""

    answers: dict[int, Answer]
    threads: int


def build_again(
    job: VerifyJob, stages: Stages, log: CallLog, allowed: float, *, backend: Backend, with_other_threads: bool = True
) -> Build | None:
    """None where the engine was not built in this job, where building takes longer than `allowed`, or where it cannot be done."""
    took = built_s(stages)
    if took is None or took > allowed:
        return None
    count = other_threads(backend, job.flow) if with_other_threads else 0
    flow = msgspec.structs.replace(job.flow, options={**job.flow.options, THREADS: count}) if count else job.flow
    other = msgspec.structs.replace(job, artifact_dir="", reuse=False, flow=flow)
    apart = Stages(lambda stage: None)  # no time of the engine that is judged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            second = CallLog(load(lower(other, apart), other, apart), log.feeds, log.clock, log.but)
        except (AssayError, RuntimeError, ValueError):
            return None
    begin = log.clock()
    answers = {}
    for sample, first in log.firsts.items():
        answer = second.ask(sample)
        if not same_answer(answer, first, log.but):
            answers[sample] = answer
        if log.clock() - begin > allowed:
            break
    return Build(answers, count)


def built_s(stages: Stages) -> float | None:
    """Seconds that the engine took to build; None where it came from a cache."""
    if not any(time.stage is Stage.LOWER for time in stages.times):
        return None
    return sum(time.seconds for time in stages.times if time.stage in _BUILDING)


def other_threads(backend: Backend, flow: Flow) -> int:
    """Another number of threads than the flow's; 0 where the backend has no such option."""
    usual = {option.name: option.default for option in backend.options}
    if THREADS not in usual:
        return 0
    return 2 if flow.options.get(THREADS, usual[THREADS]) == 1 else 1
