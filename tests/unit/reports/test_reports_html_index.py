"""What a cell of the page's matrix shows: the metric where it answers, else how the job ended."""

from __future__ import annotations

from typing import Any

import pytest

from assay.core.outcome import Outcome
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.reports.html_index import index
from assay.reports.rows import rows
from assay.testing.builders import make_comparison, make_job, make_result, make_run


@pytest.mark.parametrize(
    ("outcome", "answered"),
    [
        (Outcome.OK, True),
        (Outcome.MISMATCH, True),
        (Outcome.OTHER_PRECISION, False),
        (Outcome.MISTRUSTED, False),
        (Outcome.NONDETERMINISTIC, False),
        (Outcome.UNDELEGATED, False),
    ],
)
def test_a_small_budget_is_no_answer_of_another_outcome(outcome: Outcome, answered: bool) -> None:
    job = make_job()
    result = make_result(outcome=outcome, comparisons=(make_comparison(budget_used=0.21),))
    said = Verdict(VerdictStatus.INCONCLUSIVE, "why", job.key)
    table = rows(make_run(jobs=(job,)), [result], RunVerdict((said,), said, 3))
    shown: Any = index(table, 50)
    (row,) = shown["rows"]
    assert row[5][0] == "0.21"
    assert row[6:] == [outcome.value.replace("_", " "), answered]
