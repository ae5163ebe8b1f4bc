"""Results of one case, judged on a day that is known."""

from __future__ import annotations

import datetime
from typing import Any

from assay.core.outcome import Outcome
from assay.core.policy import Expectation, Policy
from assay.core.result import Result
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.judge import judge
from assay.testing.builders import make_comparison, make_result

TODAY = datetime.date(2026, 11, 21)


def judged(*results: Result, policy: Policy = Policy(), planned: list[str] | None = None, **more: Any) -> RunVerdict:
    keys = [result.job_key for result in results] if planned is None else planned
    return judge(results, policy, planned=keys, today=TODAY, **more)


def expecting(outcome: str = "mismatch", **changes: str) -> Policy:
    known = {"case": "digits-*", "flow": "*", "outcome": outcome, "reason": "known", **changes}
    return Policy(expectations=(Expectation(**known),))


def words(judgement: RunVerdict) -> list[VerdictStatus]:
    return [verdict.word for verdict in judgement.verdicts]


def over() -> Result:
    return make_result(outcome=Outcome.MISMATCH, comparisons=(make_comparison(budget_used=5.0),))
