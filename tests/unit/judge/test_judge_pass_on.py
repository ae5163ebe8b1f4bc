"""A policy may count a backend that takes nothing of a model as a pass; the line of the verdict says how many were."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.config.assay_toml import load_policy
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.errors import BadPolicy
from assay.judge.verdicts import judge
from assay.reports.rows import skipped_note
from assay.testing.builders import make_comparison, make_result

FREE = "free-to-delegate"


def _judged(policy: Policy, *outcomes: Outcome) -> RunVerdict:
    results = [
        replace(
            make_result(f"c{place}", "f"), outcome=outcome, comparisons=(make_comparison(),) * (outcome is Outcome.OK)
        )
        for place, outcome in enumerate(outcomes)
    ]
    planned = [result.job_key for result in results]
    return judge(results, policy, planned=planned, today=datetime.date(2026, 11, 26))


def test_the_shipped_policy_lets_a_backend_delegate_nothing_and_counts_it_beside_the_pass() -> None:
    judgement = _judged(load_policy(FREE), Outcome.OK, Outcome.UNDELEGATED, Outcome.UNDELEGATED)
    assert judgement.exit_code == 0
    assert "3 of 3 jobs passed, 2 of them undelegated" in judgement.run.reason
    assert "a pass by pass-on of the policy" in judgement.verdicts[1].reason


def test_a_path_is_no_name_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (f"./{FREE}", Path(FREE)):
        with pytest.raises(BadPolicy, match=FREE):
            load_policy(path)
    (tmp_path / FREE).write_text("budget-max = 3.0")
    assert load_policy(f"./{FREE}").budget_max == 3.0


def test_without_it_such_a_job_is_skipped_and_the_line_of_the_pass_says_so() -> None:
    judgement = _judged(Policy(), Outcome.OK, Outcome.UNDELEGATED, Outcome.UNSUPPORTED)
    assert judgement.verdicts[1].word is VerdictStatus.SKIP
    assert judgement.run.reason.startswith("PASS: 1 of 3 jobs passed, 2 skipped")
    assert skipped_note(judgement) == "2 of 3 jobs skipped"
    assert skipped_note(_judged(Policy(), Outcome.OK)) == ""


@pytest.mark.parametrize("outcome", [Outcome.ERROR, Outcome.CRASH, Outcome.UNSUPPORTED, Outcome.MISMATCH])
def test_nothing_else_passes_by_it(outcome: Outcome) -> None:
    assert _judged(load_policy(FREE), outcome).verdicts[0].word is not VerdictStatus.PASS


def test_an_outcome_that_is_a_failure_of_the_engine_cannot_be_made_a_pass(tmp_path: Path) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text('pass-on = ["crash"]')
    with pytest.raises(BadPolicy):
        load_policy(policy)
    policy.write_text('pass-on = ["undelegated"]\nfail-on = ["undelegated"]')
    with pytest.raises(BadPolicy, match="'undelegated' stands in fail-on and in pass-on"):
        load_policy(policy)
