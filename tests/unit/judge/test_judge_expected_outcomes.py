"""Outcomes that a policy expects: met, not met, expired, and of nothing."""

from __future__ import annotations

import msgspec
import pytest
from judged_results import expecting, judged, over, words

from assay.core.outcome import Outcome
from assay.core.policy import Expectation, Goal, Policy
from assay.core.verdict import VerdictStatus
from assay.errors import BadPolicy
from assay.testing.builders import make_result


@pytest.mark.parametrize(
    ("version", "wrong", "word", "text"),
    [
        ("1.2.7", True, VerdictStatus.XFAIL, "mismatch as expected"),
        ("1.2.7", False, VerdictStatus.XPASS, "unexpected pass"),
        ("1.3.0", True, VerdictStatus.FAIL, "add it to `versions`"),
        ("", True, VerdictStatus.XFAIL, "mismatch as expected"),
        ("1.3.0", False, VerdictStatus.PASS, "fixed in this version: mismatch is known of lib==1.2.*"),
    ],
)
def test_what_is_known_of_a_version_says_of_another_that_it_is_fixed_or_not(
    version: str, wrong: bool, word: VerdictStatus, text: str
) -> None:
    policy = Policy(expectations=(Expectation("digits-*", "*", "mismatch", "known", versions=("lib==1.2.*",)),))
    result = over() if wrong else make_result()
    judgement = judged(msgspec.structs.replace(result, versions={"lib": version} if version else {}), policy=policy)
    assert words(judgement) == [word]
    assert text in judgement.verdicts[0].reason


def test_what_is_known_of_a_library_that_no_result_names_is_known_of_none() -> None:
    policy = Policy(expectations=(Expectation("digits-*", "*", "mismatch", "known", versions=("libb==1.2.*",)),))
    assert words(judged(msgspec.structs.replace(over(), versions={"lib": "1.2.7"}), policy=policy)) == [
        VerdictStatus.FAIL
    ]


def test_an_expected_outcome_is_xfail_and_passes() -> None:
    judgement = judged(over(), policy=expecting(issue="https://example.org/41", expires="2027-01-31"))
    assert words(judgement) == [VerdictStatus.XFAIL]
    assert judgement.exit_code == 0
    for part in ("known; https://example.org/41", "until 2027-01-31", "budget used 5"):
        assert part in judgement.verdicts[0].reason


def test_an_unexpected_pass_fails_the_run() -> None:
    judgement = judged(make_result(), policy=expecting())
    assert words(judgement) == [VerdictStatus.XPASS]
    assert judgement.exit_code == 1
    assert judgement.run.reason.startswith("FAIL: 1 job passed unexpectedly; the first: ")


def test_another_outcome_than_the_expected_fails() -> None:
    judgement = judged(make_result(outcome=Outcome.CRASH, comparisons=()), policy=expecting())
    assert words(judgement) == [VerdictStatus.FAIL]
    assert "expected was another outcome: mismatch (known)" in judgement.verdicts[0].reason


@pytest.mark.parametrize(("expires", "word"), [("2026-11-20", VerdictStatus.FAIL), ("2026-11-21", VerdictStatus.XFAIL)])
def test_the_day_of_expiry_still_counts(expires: str, word: VerdictStatus) -> None:
    assert words(judged(over(), policy=expecting(expires=expires))) == [word]


def test_an_expired_expectation_fails_even_what_the_policy_would_tolerate() -> None:
    gone = make_result(outcome=Outcome.UNAVAILABLE, comparisons=())
    assert words(judged(gone)) == [VerdictStatus.SKIP]
    assert words(judged(gone, policy=expecting("unavailable", expires="2020-01-01"))) == [VerdictStatus.FAIL]


def test_an_expectation_that_matches_no_job_fails_the_run() -> None:
    judgement = judged(make_result(), policy=expecting(case="nothing"))
    assert words(judgement) == [VerdictStatus.PASS, VerdictStatus.FAIL]
    assert judgement.exit_code == 1
    assert "case 'nothing' and flow '*' matches no job" in judgement.run.reason


def test_an_expiry_that_is_no_date_is_refused() -> None:
    with pytest.raises(BadPolicy, match="which is no date"):
        judged(over(), policy=expecting(expires="soon"))


def test_a_measure_job_says_nothing_against_an_expected_mismatch() -> None:
    assert words(judged(over(), make_result(kind="measure"), policy=expecting())) == [
        VerdictStatus.XFAIL,
        VerdictStatus.PASS,
    ]
    assert words(judged(make_result(kind="measure"), policy=expecting())) == [VerdictStatus.PASS]


def test_a_crash_expected_of_a_cell_is_met_by_either_job() -> None:
    crashed = make_result(kind="measure", outcome=Outcome.CRASH, measurements=())
    assert words(judged(make_result(), crashed, policy=expecting("crash"))) == [VerdictStatus.PASS, VerdictStatus.XFAIL]
    assert (
        words(judged(make_result(), make_result(kind="measure"), policy=expecting("crash")))
        == [VerdictStatus.XPASS] * 2
    )


def test_expectations_speak_of_the_outcome_under_this_policy() -> None:
    expectations = expecting().expectations
    assert words(judged(over(), policy=Policy(expectations=expectations, budget_max=9.0))) == [VerdictStatus.XPASS]
    assert words(judged(make_result(), policy=Policy(expectations=expectations, budget_max=0.1))) == [
        VerdictStatus.XFAIL
    ]


def test_an_expectation_does_not_excuse_the_harness_or_a_missing_backend() -> None:
    broken = make_result(outcome=Outcome.INFRASTRUCTURE)
    assert words(judged(broken, policy=expecting("infrastructure"))) == [VerdictStatus.ERROR]
    gone = make_result(outcome=Outcome.UNAVAILABLE, comparisons=())
    assert words(judged(gone, policy=expecting())) == [VerdictStatus.SKIP]


def test_an_xfail_owes_no_goal() -> None:
    policy = Policy(expectations=expecting().expectations, goals=(Goal("budget_used", max=1.0),))
    assert words(judged(over(), policy=policy)) == [VerdictStatus.XFAIL]


def test_an_unexpected_pass_that_misses_a_goal_says_both() -> None:
    policy = Policy(expectations=expecting().expectations, goals=(Goal("seconds", max=0.1),))
    verdict = judged(make_result(), policy=policy).verdicts[0]
    assert verdict.word is VerdictStatus.XPASS
    assert "seconds is 0.436 s" in verdict.reason
