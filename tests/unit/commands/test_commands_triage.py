"""Which verdicts are looked into."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from assay.commands.triage import _is_red
from assay.core.outcome import Outcome
from assay.core.verdict import Verdict, VerdictStatus
from assay.testing.builders import make_result


@pytest.mark.parametrize(
    ("word", "outcome", "red"),
    [
        (VerdictStatus.FAIL, Outcome.MISMATCH, True),
        (VerdictStatus.ERROR, Outcome.CRASH, True),
        (VerdictStatus.INCONCLUSIVE, Outcome.MISMATCH, True),
        (VerdictStatus.INCONCLUSIVE, Outcome.MISTRUSTED, False),
        (VerdictStatus.PASS, Outcome.OK, False),
    ],
)
def test_what_differs_and_nobody_vouches_for_is_looked_into(word: VerdictStatus, outcome: Outcome, red: bool) -> None:
    result = replace(make_result(), outcome=outcome)
    verdict = Verdict(word, "", result.job_key)
    assert _is_red(verdict, {result.job_key: result}, named=False) is red


@pytest.mark.parametrize("named", [False, True])
def test_a_refusal_is_looked_into_only_where_the_user_named_it(named: bool) -> None:
    result = replace(make_result(), outcome=Outcome.UNSUPPORTED)
    verdict = Verdict(VerdictStatus.SKIP, "", result.job_key)
    assert _is_red(verdict, {result.job_key: result}, named=named) is named
