"""What a worker observed, and whose fault it is called."""

from __future__ import annotations

import pytest

from assay.core.comparison import Comparison
from assay.core.finding import Finding, WorstElement
from assay.core.outcome import Cause, Outcome, Stage
from assay.core.result import Result, VerifyResult
from assay_zoo.check import CheckOutcome
from assay_zoo.functionality.judge import batch_check, flow_check

HELD = Comparison("y", "float32", (2, 4), 2, 16, metrics={"budget_used": 0.2})
SETS = ("test_data_set_0", "test_data_set_1")


def result(outcome: Outcome, detail: str = "what happened", cause: Cause = Cause.NONE, *held: Comparison) -> Result:
    return VerifyResult("m|f|verify", "m", "f", "0", outcome, Stage.RUN, cause, detail=detail, comparisons=held)


@pytest.mark.parametrize(
    ("given", "outcome", "message"),
    [
        (result(Outcome.OK, "", Cause.NONE, HELD), CheckOutcome.PASSED, "2 data sets agree"),
        (result(Outcome.OK), CheckOutcome.FAILED, "compared nothing"),
        (result(Outcome.UNAVAILABLE), CheckOutcome.INFRASTRUCTURE, "could not be asked: what happened"),
        (result(Outcome.INFRASTRUCTURE), CheckOutcome.INFRASTRUCTURE, "could not be asked"),
        (result(Outcome.LOWERED), CheckOutcome.INFRASTRUCTURE, "could not be asked"),
        (result(Outcome.ERROR, cause=Cause.MISSING_DEVICE), CheckOutcome.INFRASTRUCTURE, "could not be asked"),
        (result(Outcome.ERROR), CheckOutcome.FAILED, "ends in error (run): what happened"),
        (
            result(Outcome.UNSUPPORTED, "no kernel for Frob"),
            CheckOutcome.FAILED,
            "does not support the model: no kernel for Frob",
        ),
        (result(Outcome.UNDELEGATED), CheckOutcome.FAILED, "ends in undelegated"),
        (result(Outcome.CRASH), CheckOutcome.FAILED, "crashes on the model, in the stage 'run'"),
        (result(Outcome.TIMEOUT), CheckOutcome.FAILED, "does not end on the model"),
        (result(Outcome.OUT_OF_MEMORY), CheckOutcome.FAILED, "runs out of memory"),
        (result(Outcome.NONDETERMINISTIC), CheckOutcome.FAILED, "does not repeat"),
        (result(Outcome.MISTRUSTED), CheckOutcome.UNDECIDED, "that proves nothing"),
        (result(Outcome.MISMATCH), CheckOutcome.FAILED, "does not give the model's answers: what happened"),
    ],
)
def test_whose_fault_it_is(given: Result, outcome: CheckOutcome, message: str) -> None:
    check = flow_check(given, "openvino", SETS, "model.onnx")
    assert check.name == "functionality.openvino"
    assert check.outcome is outcome
    assert check.sentence.startswith(("openvino ", "2 data sets"))
    assert message in check.sentence
    assert check.executed == (2 if given.comparisons else 0)


def test_every_outcome_is_judged() -> None:
    for outcome in Outcome:
        assert flow_check(result(outcome), "openvino", SETS, "").outcome is not CheckOutcome.PASSED


def test_the_data_set_at_fault_is_named() -> None:
    wrong = Comparison(
        "y",
        "float32",
        (2, 4),
        2,
        16,
        (Finding("values", "y"),),
        {"budget_used": 9.0},
        worst=(WorstElement((1, 0, 2), 1, 2),),
    )
    given = result(Outcome.MISMATCH, "off", Cause.NONE, wrong)
    check = flow_check(given, "tvm", SETS, "model.onnx")
    assert check.sentence == "tvm does not give the model's answers on test_data_set_1: off"
    assert check.figures == {"budget_used": 9.0}
    batch = batch_check(given, "tvm", ("batch 1", "batch 3"), "model.onnx")
    assert batch.name == "functionality.dynamic-batch"
    assert "on batch 3" in batch.sentence
