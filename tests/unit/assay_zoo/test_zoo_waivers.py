"""What a maintainer accepts in writing: failures and open questions, by their own words and for a time."""

from __future__ import annotations

from datetime import date, timedelta

import msgspec
import pytest

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer, decide
from assay_zoo.policy import Rules, Waiver
from assay_zoo.waivers import apply_waivers, expired

TODAY = date.today()
"""Once for all tests of a run, which may go on past midnight."""
FAILED = Check(name="compliance.graph", outcome=CheckOutcome.FAILED, sentence="w holds NaN", executed=1)
UNDECIDED = Check(
    name="artifacts.copy", outcome=CheckOutcome.UNDECIDED, sentence="its weights are those of other 1.0 of this zoo"
)


def waiver(model: str, match: str, *, days: int = 30, check: str = "compliance.graph") -> Waiver:
    expires = TODAY + timedelta(days)
    return Waiver(model=model, check=check, match=match, reason="a known mask", signed="ada", expires=expires)


@pytest.mark.parametrize(
    ("one", "outcome", "number"),
    [
        (waiver("m", "NaN"), CheckOutcome.WAIVED, 1),
        (waiver("m", "NaN", days=0), CheckOutcome.WAIVED, 1),
        (waiver("m", "NaN", days=-1), CheckOutcome.FAILED, 1),
        (waiver("m", "infinite"), CheckOutcome.FAILED, 2),
        (waiver("m", "NaN", check="compliance.node"), CheckOutcome.FAILED, 2),
        (waiver("other", "NaN"), CheckOutcome.FAILED, 1),
        (waiver("m", "NaN", check="functionality.golden"), CheckOutcome.FAILED, 1),
    ],
)
def test_what_a_waiver_speaks_of(one: Waiver, outcome: CheckOutcome, number: int) -> None:
    checks = apply_waivers([FAILED], [one], "m", "compliance", TODAY)
    assert checks[0].outcome is outcome
    assert len(checks) == number
    assert number == 1 or "nothing of the kind was found; remove the waiver" in checks[1].sentence


def test_a_waiver_says_who_signed_it_and_an_expired_one_since_when_it_is_over() -> None:
    (waived,) = apply_waivers([FAILED], [waiver("m", "NaN")], "m", "compliance", TODAY)
    assert waived.sentence.endswith("by ada: a known mask)")
    (failed,) = apply_waivers([FAILED], [waiver("m", "NaN", days=-1)], "m", "compliance", TODAY)
    assert "a waiver signed by ada expired on" in failed.sentence


@pytest.mark.parametrize("check", ["artifacts.copy", "artifacts.owner"])
def test_a_question_to_a_person_is_decided_by_a_waiver_as_long_as_it_is_in_force(check: str) -> None:
    open_ = msgspec.structs.replace(UNDECIDED, name=check)
    assert decide([open_], Rules(required=())).answer is Answer.PERSON
    (waived,) = apply_waivers([open_], [waiver("m", "those of other 1.0", check=check)], "m", "artifacts", TODAY)
    assert decide([waived], Rules(required=())).answer is Answer.PROMOTE
    again = expired(waived, TODAY + timedelta(31))
    assert again.outcome is CheckOutcome.UNDECIDED, "a question is no failure when the answer is over"
