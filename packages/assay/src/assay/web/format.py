"""How pages say things: the colour of a word, times, and what one cell of the matrix is called by."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol

from assay.core.outcome import Outcome
from assay.judge.outcome_table import OUTCOMES, outcome_words
from assay.reports import format as text
from assay.reports.rows import SEVERITY
from assay.reports.sanitize import one_line, sanitize
from assay.web.address import address, changed


class HasOutcome(Protocol):
    """A job with its outcome, and with the verdict on it where that is known."""

    @property
    def outcome(self) -> str: ...

    @property
    def word(self) -> str: ...


def status(job: HasOutcome) -> str:
    """Its verdict; where none is kept, that of a policy which says nothing of its outcome."""
    if job.word:
        return job.word
    known = job.outcome in list(Outcome)
    return OUTCOMES[Outcome(job.outcome)].by_default.value if known else "skip"


def worst_job(jobs: Sequence[Any]) -> Any:
    """The job that a cell is called by."""
    return min(jobs, key=lambda job: SEVERITY.index(status(job)))


def label(job: HasOutcome) -> str:
    """`pass`, or what happened: `mismatch`, `out of memory`; the verdict where the job itself was well."""
    word = status(job)
    return word if word == "pass" or job.outcome == Outcome.OK.value else outcome_words(job.outcome)


def meaning(outcome: str) -> str:
    """The sentence of the one table of outcomes, with what to do; "" for an outcome that is not in it."""
    if outcome not in list(Outcome):
        return ""
    row = OUTCOMES[Outcome(outcome)]
    return f"{row.meaning}; {row.advice}" if row.advice else row.meaning


def moment(started_at: str) -> str:
    """`2026-11-22 02:41 UTC`, from ISO 8601; as it is where it is no such time."""
    try:
        at = datetime.fromisoformat(started_at)
    except ValueError:
        return one_line(started_at)
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


@lru_cache(16_384)
def when(run_id: str) -> str:
    """From the id of a run, which begins with its time: `2026-11-21 14:19`; the id where it does not."""
    try:
        return datetime.strptime(run_id[:15], "%Y%m%dT%H%M%S").strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return one_line(run_id)


def plural(count: int, name: str) -> str:
    """`1 job`, `1,200 jobs`."""
    return f"{count:,} {name}{'' if count == 1 else 's'}"


FILTERS = {
    "status": status, "label": label, "meaning": meaning, "moment": moment, "when": when, "plural": plural,
    "line": one_line, "plain": sanitize, "words": outcome_words, "number": text.number, "size": text.size,
}  # fmt: skip
"""What the templates may call."""

GLOBALS = {"address": address, "changed": changed}
