"""What a build finds missing is looked for once: the engine is not built again to be told the same."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.core.case import Case
from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import AnyJob, MeasureJob, VerifyJob
from assay.core.model import Model
from assay.core.outcome import Cause, Outcome, Stage
from assay.pipeline.unavailable import left_unbuilt

CASE = Case("net", Model("net", "net.onnx", "1"))
JOBS: list[AnyJob] = [
    VerifyJob(CASE, Flow("a", "a")),
    VerifyJob(CASE, Flow("b", "b")),
    MeasureJob(CASE, Flow("a", "a")),
    MeasureJob(CASE, Flow("b", "b")),
]


@pytest.mark.parametrize("stage", [Stage.IMPORT, Stage.LOWER, Stage.LOAD])
def test_the_other_jobs_of_an_engine_that_cannot_be_built_here_have_the_same_answer(stage: Stage) -> None:
    verified = replace(
        empty_result(JOBS[0], Outcome.UNAVAILABLE), stage=stage, cause=Cause.NOT_INSTALLED, detail="a needs a library"
    )
    (measured,) = left_unbuilt(JOBS, verified)
    assert measured.job_key == "net|a|measure"
    assert (measured.outcome, measured.stage, measured.cause, measured.detail) == (
        Outcome.UNAVAILABLE,
        stage,
        Cause.NOT_INSTALLED,
        "a needs a library",
    )


@pytest.mark.parametrize(
    ("outcome", "stage"),
    [(Outcome.UNAVAILABLE, Stage.COMPARE), (Outcome.UNSUPPORTED, Stage.LOWER), (Outcome.OK, Stage.COMPARE)],
)
def test_what_is_missing_for_the_comparison_alone_keeps_no_engine_from_being_measured(
    outcome: Outcome, stage: Stage
) -> None:
    assert left_unbuilt(JOBS, replace(empty_result(JOBS[0], outcome), stage=stage)) == []
