"""What the queue hands out: frozen values, in the words that the pages and the reports use."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from assay_zoo.check import Check


class State(StrEnum):
    """Of a submission. SUPERSEDED: its branch has a newer commit; WITHDRAWN: its branch or request is gone."""

    QUEUED = "queued"
    RUNNING = "running"
    DECIDED = "decided"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"


class Level(StrEnum):
    """Of a line of the log."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """The newest commit of something submitted. `ref` is what git fetches; `number` that of a request, 0 for a branch;
    `author`, `title` and `branch` are untrusted text."""

    sha: str
    branch: str
    ref: str
    number: int = 0
    author: str = ""
    title: str = ""
    url: str = ""


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    """One folder of one commit. `answer` is "" until it is decided; `promoted` is the commit that brought it into the zoo;
    `trouble` says why a promotion did not happen; `approved` is who agreed that its code is run.
    Times are seconds since 1970, 0.0 for not yet."""

    id: int
    repository: str
    name: str
    sha: str
    branch: str
    ref: str
    number: int
    author: str
    title: str
    url: str
    state: State
    answer: str
    promoted: str
    trouble: str
    attempts: int
    round: int
    received_at: float
    queued_at: float
    started_at: float
    decided_at: float
    approved: str = ""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A decision as it was recorded. `base` is the commit of the zoo whose policy was applied, `record` the file that
    `assay zoo decide` judges again, "" for none."""

    answer: str
    reasons: tuple[str, ...]
    checks: tuple[Check, ...]
    digest: str = ""
    base: str = ""
    record: str = ""
    at: float = 0.0


class LogLine(msgspec.Struct, frozen=True, kw_only=True):
    at: float
    level: Level
    text: str


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    """All there is to know of one submission. `decisions` are of its rounds, the newest first; a submission that was run
    again keeps the earlier ones. `log` is oldest first."""

    submission: Submission
    decisions: tuple[Decided, ...]
    log: tuple[LogLine, ...]

    @property
    def decision(self) -> Decided | None:
        """The one that stands now; None while a round is open."""
        return self.decisions[0] if self.decisions and self.submission.state is State.DECIDED else None


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """`oldest_at`: when the one that waits longest was queued, 0.0 where none waits; `unsent`: reports, promotions and
    notifications that are still to be delivered."""

    queued: int
    running: int
    answers: dict[str, int]
    oldest_at: float
    unsent: int


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to decide one job, until somebody takes it up again with a higher `fence`. `attempts` counts inspections
    that ended without an answer, `taken` how often the job was taken up."""

    job: int
    submission: Submission
    fence: int
    attempts: int
    taken: int
    worker: str
