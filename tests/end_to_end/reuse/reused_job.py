"""A job that runs, whether it lowered, and the same with another option."""

from __future__ import annotations

import msgspec

from assay.core.flow import Flow
from assay.core.job_base import Job
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result
from assay.worker.stages import Stages
from judged_job import execute_judged as execute

FLOW = Flow("onnxruntime", "onnxruntime")


def run(job: Job) -> Result:
    result = execute(job, Stages(lambda stage: None))
    assert result.outcome is Outcome.OK, result.detail
    return result


def lowered(result: Result) -> bool:
    return Stage.LOWER in {time.stage for time in result.stage_times}


def another_option(job: Job) -> Job:
    return msgspec.structs.replace(job, flow=msgspec.structs.replace(FLOW, options={"optimization": "basic"}))
