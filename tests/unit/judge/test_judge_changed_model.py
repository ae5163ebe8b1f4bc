"""What the judge says of a changed model."""

from __future__ import annotations

from datetime import date

from msgspec.structs import replace

from assay.core.finding import Finding
from assay.core.outcome import Outcome
from assay.core.policy import Goal, Policy
from assay.core.result import Result
from assay.core.verdict import Verdict
from assay.judge.verdicts import judge
from assay.testing.builders import make_comparison, make_job, make_result


def _verdict(policy: Policy | None = None, **changes: object) -> Verdict:
    job = make_job("new", "model-change", "change")
    fields = {"original": "old", **changes}
    result: Result = replace(make_result("new", "model-change", "change"), **fields)
    judged = judge([result], policy or Policy(), planned=[job.key], today=date(2026, 11, 24))
    return judged.verdicts[0]


def test_within_the_tolerance_it_is_the_same_model() -> None:
    verdict = _verdict(comparisons=(make_comparison(budget_used=0.25),))
    assert verdict.word == "pass"
    assert verdict.reason == "the same model as 'old': budget used 0.25 of 1"


def test_beyond_it_the_file_is_blamed_and_no_engine() -> None:
    over = replace(make_comparison(budget_used=3.0), findings=(Finding("values", "scores"),))
    verdict = _verdict(comparisons=(over,), outcome=Outcome.MISMATCH)
    assert verdict.word == "fail"
    assert verdict.reason.startswith(
        "changed model: it is not 'old' any more, and no engine took part: the file itself is another model; output 'scores': "
        "budget used 3, allowed 1"
    )
    assert "fix the file" in verdict.reason
    relaxed = _verdict(Policy(budget_max=4.0), comparisons=(over,), outcome=Outcome.MISMATCH)
    assert relaxed.word == "pass"


def _lost(sqnr_db: float) -> dict[str, object]:
    lost = make_comparison()
    return {"comparisons": (), "against_float": (replace(lost, metrics={**lost.metrics, "sqnr_db": sqnr_db}),)}


def test_what_quantization_costs_is_told_and_judged_by_goals_alone() -> None:
    verdict = _verdict(**_lost(31.0))
    assert verdict.word == "pass"
    assert "quantization costs, at output 'scores' against 'old': 31 dB signal to error" in verdict.reason
    assert "no goal limits it" in verdict.reason
    limited = Policy(goals=(Goal("vs_float.sqnr_db", min=40.0),))
    assert _verdict(limited, **_lost(31.0)).word == "fail"
    assert _verdict(limited, **_lost(41.0)).word == "pass"


def test_more_error_than_signal_is_no_pass_unless_somebody_says_so() -> None:
    verdict = _verdict(**_lost(-3.0))
    assert verdict.word == "inconclusive"
    assert "more error than signal; say what is allowed" in verdict.reason
    assert _verdict(Policy(goals=(Goal("vs_float.sqnr_db", min=-5.0),)), **_lost(-3.0)).word == "pass"
