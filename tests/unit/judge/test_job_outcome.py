"""What the judge makes of what a worker observed: a table."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from assay.core.case import Case
from assay.core.comparison import Comparison
from assay.core.empty_result import empty_result
from assay.core.engine_info import EngineInfo
from assay.core.finding import Finding, FindingCode, WorstElement, facts
from assay.core.flow import Flow
from assay.core.job import (
    ChangeJob,
    MeasureJob,
    PerNodeJob,
    VerifyJob,
)
from assay.core.job_base import Job
from assay.core.model import Model
from assay.core.node_error import NodeError, NodeSummary
from assay.core.note import NoteCode, noted
from assay.core.outcome import Cause, Outcome, Stage
from assay.judge.job_outcome import as_observed, with_outcome

POOR_REFERENCE = Finding("degenerate", "scores", FindingCode.REFERENCE_CONSTANT, facts(value=0.1, elements=640))

CASE = Case("case", Model("model", "model.onnx", "0" * 64))
FLOW = Flow("flow", "backend", precision="float16")
WRONG = Finding("values", "y")
POOR = Comparison("y", "float32", (2,), 1, 2, degenerate=POOR_REFERENCE)
FINER = EngineInfo(precision="float32")
DEFAULTS: dict[str, Any] = {"case": CASE, "flow": FLOW}


@pytest.mark.parametrize(
    ("job", "observed", "outcome", "detail", "cause"),
    [
        (VerifyJob(**DEFAULTS), {}, Outcome.OK, "", Cause.NONE),
        (VerifyJob(**DEFAULTS), {"findings": (WRONG,)}, Outcome.MISMATCH, "values", Cause.NONE),
        (
            VerifyJob(**DEFAULTS),
            {"findings": (WRONG, WRONG), "outcome": Outcome.UNDELEGATED, "detail": "nothing was delegated"},
            Outcome.MISMATCH,
            "values (and 1 more finding)",
            Cause.NONE,
        ),
        (
            VerifyJob(**DEFAULTS),
            {
                "outcome": Outcome.NONDETERMINISTIC,
                "detail": "y differs",
                "unproven": noted(NoteCode.NO_REFERENCE, reason="nobody knows"),
            },
            Outcome.NONDETERMINISTIC,
            "y differs",
            Cause.NONE,
        ),
        (
            VerifyJob(**DEFAULTS),
            {"unproven": noted(NoteCode.NO_REFERENCE, reason="nobody knows")},
            Outcome.MISTRUSTED,
            "nobody knows",
            Cause.NO_REFERENCE,
        ),
        (
            VerifyJob(**DEFAULTS),
            {"comparisons": (POOR,)},
            Outcome.MISTRUSTED,
            "output 'y': the reference is constant (0.1) in all 640 elements; such a pass proves nothing",
            Cause.NONE,
        ),
        (
            VerifyJob(**DEFAULTS),
            {"facts": FINER},
            Outcome.OTHER_PRECISION,
            "nothing of this float16 flow computes or is stored in float16: all is float32",
            Cause.NONE,
        ),
        (
            MeasureJob(**DEFAULTS),
            {"facts": FINER},
            Outcome.OTHER_PRECISION,
            "nothing of this float16 flow computes or is stored in float16: all is float32",
            Cause.NONE,
        ),
        (
            VerifyJob(**DEFAULTS, no_reference_reason="no oracle"),
            {"outcome": Outcome.ERROR, "stage": Stage.RUN, "detail": "it fell", "cause": Cause.OTHER},
            Outcome.MISTRUSTED,
            "no oracle; nor does this engine: it fell",
            Cause.NO_REFERENCE,
        ),
        (
            VerifyJob(**DEFAULTS),
            {"outcome": Outcome.ERROR, "stage": Stage.RUN, "detail": "it fell"},
            Outcome.ERROR,
            "it fell",
            Cause.NONE,
        ),
        (
            PerNodeJob(**DEFAULTS),
            {"summary": NodeSummary(0, 3)},
            Outcome.MISTRUSTED,
            "0 nodes are right on their own inputs, 3 could not be judged",
            Cause.NONE,
        ),
        (
            PerNodeJob(**DEFAULTS),
            {"detail": "1 node", "node_errors": (NodeError(0, "n", "Add", "y", budget_used=0.5),)},
            Outcome.OK,
            "1 node",
            Cause.NONE,
        ),
        (ChangeJob(CASE), {"findings": (WRONG,)}, Outcome.MISMATCH, "values", Cause.NONE),
        (
            ChangeJob(CASE),
            {"findings": (WRONG,), "unproven": noted(NoteCode.NO_REFERENCE, reason="two engines")},
            Outcome.MISTRUSTED,
            "two engines",
            Cause.NONE,
        ),
        (
            ChangeJob(CASE),
            {"unproven": noted(NoteCode.NO_REFERENCE, reason="two engines")},
            Outcome.OK,
            "",
            Cause.NONE,
        ),
    ],
)
def test_an_outcome_follows_from_what_was_observed(
    job: Job, observed: dict[str, Any], outcome: Outcome, detail: str, cause: Cause
) -> None:
    result = replace(empty_result(job), **observed)
    judged = with_outcome(result, job)
    assert (judged.outcome, judged.detail, judged.cause) == (outcome, detail, cause)
    assert with_outcome(judged, job) == judged
    assert (as_observed(judged).outcome, as_observed(judged).detail) == (result.outcome, result.detail)


@pytest.mark.parametrize(
    ("metrics", "ending"),
    [({"budget_used": 7.0}, "(limit 4)."), ({}, "(limit 4); budget used 7, worst at [0, 1]: expected 1, got 2.")],
)
def test_the_figures_of_a_verdict_are_not_said_a_second_time(metrics: dict[str, float], ending: str) -> None:
    worst = (WorstElement((0, 1), 1.0, 2.0),)
    wrong = Finding("values", "y", FindingCode.ERROR_NORM, facts(times=9.0, used=7.0), worst)
    compared = Comparison("y", "float32", (2,), 1, 2, metrics=metrics, findings=(wrong,))
    job = VerifyJob(**DEFAULTS)
    judged = with_outcome(replace(empty_result(job, Outcome.OK), comparisons=(compared,)), job)
    assert judged.detail == f"output 'y': the error is 9 times the noise of a correct flow {ending}"
