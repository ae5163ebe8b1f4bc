"""The table of outcomes: whole, and what the docs and the policy say."""

from __future__ import annotations

import datetime

import pytest

from assay.core.outcome import FAILS_BY_DEFAULT, Outcome
from assay.core.policy import Policy
from assay.core.verdict import VerdictStatus
from assay.judge.outcome_table import COMPARED, LEAST, OUTCOMES, outcome_reference
from assay.judge.verdicts import judge
from assay.testing.builders import make_result

TODAY = datetime.date(2026, 11, 21)


def test_each_outcome_has_one_row() -> None:
    assert set(OUTCOMES) == set(Outcome)


def test_the_ranks_of_what_may_fail_are_different() -> None:
    ranks = [row.rank for row in OUTCOMES.values() if row.rank != LEAST]
    assert len(set(ranks)) == len(ranks)
    assert {outcome for outcome, row in OUTCOMES.items() if row.rank != LEAST} >= set(FAILS_BY_DEFAULT)


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_judge_follows_the_row(outcome: Outcome) -> None:
    row, result = OUTCOMES[outcome], make_result(outcome=outcome)
    planned = [result.job_key]
    assert judge([result], Policy(), planned=planned, today=TODAY).verdicts[0].word is row.by_default
    lenient = judge([result], Policy(fail_on=()), planned=planned, today=TODAY).verdicts[0]
    assert lenient.word is row.otherwise
    assert not row.advice or lenient.reason.endswith(row.advice)


def test_what_only_a_comparison_shows_is_about_answers() -> None:
    assert all(OUTCOMES[outcome].about == "answers" and OUTCOMES[outcome].ended for outcome in COMPARED)
    assert OUTCOMES[Outcome.OK].by_default is VerdictStatus.PASS


def test_the_reference_has_a_line_for_each() -> None:
    text = outcome_reference()
    named = [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")]
    assert sorted(named) == sorted(outcome.value for outcome in Outcome)
    assert (
        "| `lowered` | the artifact was built, the device or the runtime for it is not here | skip | fail | skip | yes |"
        in text
    )
    assert "| `infrastructure` | the harness or the machine failed | error | - | error | no |" in text
