"""What the judge says: derived from results and a policy, never recorded as fact."""

from __future__ import annotations

import enum

import msgspec

from assay.core.changes import RunChanges


class VerdictStatus(enum.StrEnum):
    """The seven answers."""

    PASS = "pass"
    FAIL = "fail"
    XFAIL = "xfail"
    XPASS = "xpass"
    SKIP = "skip"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"


class Verdict(msgspec.Struct, frozen=True):
    """One answer for one job (`job_key`), or for the run as a whole (`job_key` empty), with a reason to act on.

    `by_stated_limit`: it rests on a limit of the user's, where the comparison alone decides nothing."""

    word: VerdictStatus
    reason: str
    job_key: str = ""
    metric: str = ""
    observed: float | None = None
    allowed: float | None = None
    by_stated_limit: bool = False


class RunSummary(msgspec.Struct, frozen=True):
    """What a run adds up to: `counts`, and the first of its worst jobs with its reason ("" where none is named)."""

    counts: str
    first: str = ""

    def text(self) -> str:
        """Both in one sentence."""
        return f"{self.counts}; the first: {self.first}" if self.first else self.counts


class RunVerdict(msgspec.Struct, frozen=True):
    """All verdicts of a run and what they add up to. `exit_code`: 0 pass, 1 fail, 2 only broken models fail, 3 inconclusive, 4 error,
    5 nothing executed. `changes` is what differs from the baseline, or from another run; None where there is none.
    `summary` is the reason of the run in its parts."""

    verdicts: tuple[Verdict, ...]
    run: Verdict
    exit_code: int
    changes: RunChanges | None = None
    summary: RunSummary | None = None
