"""Parts of the present state that a page lists, as conditions in SQL: those of partial indexes, so that a list is read without a look at
all the jobs that are well. A database finds the index where a query says its condition in the same words."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.outcome import FAILS_BY_DEFAULT, Outcome
from assay.core.verdict import VerdictStatus

RED_WORDS = (VerdictStatus.FAIL.value, VerdictStatus.XPASS.value, VerdictStatus.ERROR.value)
UNJUDGED = (*(outcome.value for outcome in FAILS_BY_DEFAULT), Outcome.INFRASTRUCTURE.value)
"""Outcomes that are red without a verdict: that of a policy which says nothing of the outcome."""


def _listed(values: Iterable[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)


RED = f"(word IN ({_listed(RED_WORDS)}) OR (word = '' AND outcome IN ({_listed(UNJUDGED)})))"
RED_ONCE_OK = f"last_ok IS NOT NULL AND {RED}"
INCONCLUSIVE = f"word = '{VerdictStatus.INCONCLUSIVE.value}'"
WAS_NOT_OK = "was_not_ok = 1"
GREEN = f"outcome = '{Outcome.OK.value}' AND {WAS_NOT_OK} AND word NOT IN ({_listed(RED_WORDS)})"
"""Ok now, and not in some other run."""
