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
    assert _is_red(Verdict(word, "", result.job_key), {result.job_key: result}) is red
