"""On a user's own inputs a stated limit decides where the comparison proves nothing, and only there."""

from __future__ import annotations

import datetime

import pytest

from assay.core.finding import Finding, FindingCode, facts
from assay.core.outcome import Cause, Outcome
from assay.core.policy import Goal, Policy
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.result import Result
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge import judge
from assay.judge.words.finding_text import finding_text
from assay.testing.builders import make_comparison, make_result

POOR_REFERENCE = Finding("degenerate", "scores", FindingCode.REFERENCE_CONSTANT, facts(value=0.1, elements=640))

OWN = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference", "onnxruntime", own_inputs=True)
DRAWN = Reference(ReferenceKind.ORACLE, "reference-f64", "", "reference", "onnxruntime")
ITSELF = Reference(ReferenceKind.ORACLE, "onnxruntime-disable", "", "onnxruntime", "onnxruntime", own_inputs=True)
NOISY = make_comparison(degenerate=POOR_REFERENCE)
RANDOM = make_comparison(
    "noise", degenerate=Finding("degenerate", "noise", FindingCode.RANDOM, facts(margin="RandomNormal"))
)
AGREE = Goal("task.top1_agreement", min=0.99)
RIGHT = Goal("task.top1_accuracy", min=0.9)
TWO = (Witness("openvino-f32", "openvino", agrees_with_reference=False, agrees_with_engine=True),)


def of(result: Result, *goals: Goal) -> Verdict:
    policy = Policy(goals=goals)
    return judge([result], policy, planned=[result.job_key], today=datetime.date(2026, 11, 21), narrowed=True).verdicts[
        0
    ]


def noisy(reference: Reference = OWN, agreement: float = 1.0, **changes: object) -> Result:
    metrics = {"top1_agreement": agreement, "top1_accuracy": agreement}
    given = {
        "outcome": Outcome.MISTRUSTED,
        "comparisons": (NOISY,),
        "detail": f"output 'scores': {finding_text(NOISY.degenerate)}",
    }
    return make_result(reference=reference, task_metrics=metrics, **given | changes)


def differing(agreement: float = 1.0, kind: str = "values", witnesses: tuple[Witness, ...] = TWO) -> Result:
    compared = make_comparison(budget_used=9.0, findings=(Finding(kind, "scores"),))
    return noisy(OWN, agreement, outcome=Outcome.MISMATCH, comparisons=(compared,), witnesses=witnesses)


def test_a_met_task_goal_decides_and_says_so() -> None:
    verdict = of(noisy(), AGREE)
    assert (verdict.word, verdict.by_stated_limit) == (VerdictStatus.PASS, True)
    assert verdict.reason == (
        "task metric decides: top-1 agreement 1.000 >= 0.990; without it inconclusive: output 'scores': the reference is constant "
        "(0.1) in all 640 elements"
    )


def test_an_unmet_task_goal_fails_and_says_so() -> None:
    verdict = of(noisy(agreement=0.5), AGREE)
    assert verdict.word is VerdictStatus.FAIL
    assert verdict.reason.startswith("task metric decides: task.top1_agreement is 0.5, allowed is at least 0.99")


@pytest.mark.parametrize(
    ("result", "goals", "word"),
    [
        (noisy(), [Goal("rel_l2", max=0.05)], VerdictStatus.PASS),
        (noisy(), [Goal("scores.cosine", min=0.9)], VerdictStatus.PASS),
        (noisy(), [Goal("rel_l2", max=0.0)], VerdictStatus.FAIL),
        (noisy(), [], VerdictStatus.INCONCLUSIVE),
        (noisy(), [Goal("budget_used", max=1.0)], VerdictStatus.INCONCLUSIVE),
        (noisy(), [Goal("artifact.bytes", max=1e9)], VerdictStatus.INCONCLUSIVE),
        (noisy(DRAWN), [AGREE], VerdictStatus.INCONCLUSIVE),
        (noisy(comparisons=(NOISY, make_comparison("other", degenerate=POOR_REFERENCE))), [Goal("scores.rel_l2", max=1.0)],
         VerdictStatus.INCONCLUSIVE),
        (noisy(comparisons=(RANDOM,)), [RIGHT], VerdictStatus.PASS),
        (noisy(comparisons=(RANDOM, make_comparison("scores"))), [RIGHT], VerdictStatus.INCONCLUSIVE),
        (noisy(comparisons=(RANDOM, NOISY)), [AGREE], VerdictStatus.INCONCLUSIVE),
        (noisy(comparisons=(), cause=Cause.NO_REFERENCE), [AGREE], VerdictStatus.INCONCLUSIVE),
        (noisy(comparisons=(), cause=Cause.NO_REFERENCE), [RIGHT], VerdictStatus.PASS),
        (noisy(ITSELF, outcome=Outcome.OK, comparisons=(make_comparison(),)), [AGREE], VerdictStatus.INCONCLUSIVE),
        (noisy(ITSELF, outcome=Outcome.OK, comparisons=(make_comparison(),)), [RIGHT], VerdictStatus.PASS),
        (differing(), [AGREE], VerdictStatus.PASS),
        (differing(0.5), [AGREE], VerdictStatus.INCONCLUSIVE),
        (differing(0.5), [RIGHT], VerdictStatus.FAIL),
        (differing(kind="nan"), [AGREE], VerdictStatus.INCONCLUSIVE),
        (differing(witnesses=(Witness("openvino-f32", "openvino", agrees_with_reference=True),)), [AGREE], VerdictStatus.FAIL),
    ],
)  # fmt: skip
def test_what_decides(result: Result, goals: list[Goal], word: VerdictStatus) -> None:
    assert of(result, *goals).word is word


@pytest.mark.parametrize(("kind", "advised"), [("values", True), ("nan", False)])
def test_a_disputed_reference_on_own_inputs_offers_the_limit_that_would_decide(kind: str, advised: bool) -> None:
    stated = "; or state what is close enough: `assay check MODEL.onnx --flow onnxruntime --inputs DATA --require 'rel_l2 <= 0.05'`"
    assert (stated in of(differing(kind=kind)).reason) is advised


def test_where_the_reference_is_zero_the_advised_limit_is_one_that_is_recorded() -> None:
    zero = make_comparison(metrics={"budget_used": 0.0, "max_abs": 0.0}, degenerate=POOR_REFERENCE)
    result = noisy(comparisons=(zero,))
    assert "--require 'max_abs <= 0.001'" in of(result).reason
    assert of(result, Goal("max_abs", max=0.001)).word is VerdictStatus.PASS
