"""What the pages, the reports ask of the queue. Nothing here writes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, func, select

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer
from assay_zoo.robot.database import Database
from assay_zoo.robot.queue_records import Counts, Decided, Level, LogLine, State, Submission, Whole
from assay_zoo.robot.tables import decisions, events, jobs, outbox, submissions

LOG_LINES = 1000
_AUTHOR = "artifacts.author"
_CHECKS = msgspec.json.Decoder(tuple[Check, ...])
_REASONS = msgspec.json.Decoder(tuple[str, ...])


class Queries:
    """The queue, looked at."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def submissions(
        self, *, state: str = "", name: str = "", answer: str = "", limit: int = 100, before: int = 0
    ) -> list[Submission]:
        """Newest first. `before` is the id of the last one of the page before."""
        query = submissions_query()
        for column, wanted in (
            (submissions.c.state, state),
            (submissions.c.name, name),
            (submissions.c.answer, answer),
        ):
            query = query.where(column == wanted) if wanted else query
        query = query.where(submissions.c.id < before) if before else query
        with self.database.read() as connection:
            return [as_submission(row) for row in connection.execute(query.limit(limit))]

    def submission(self, identity: int) -> Submission | None:
        with self.database.read() as connection:
            return one_submission(connection, identity)

    def whole(self, identity: int) -> Whole | None:
        """A submission with its decisions and its log; None where there is none."""
        with self.database.read() as connection:
            submission = one_submission(connection, identity)
            if submission is None:
                return None
            decided = select(decisions).where(decisions.c.submission_id == identity).order_by(decisions.c.job_id.desc())
            lines = (
                select(events).where(events.c.submission_id == identity).order_by(events.c.id.desc()).limit(LOG_LINES)
            )
            return Whole(
                submission=submission,
                decisions=tuple(_as_decided(row) for row in connection.execute(decided)),
                log=tuple(as_line(row) for row in connection.execute(lines))[::-1],
            )

    def inspection(self, identity: int) -> str:
        """The newest inspection of a submission as JSON, "" where none came to its end."""
        query = select(decisions.c.inspection).where(decisions.c.submission_id == identity)
        with self.database.read() as connection:
            return connection.execute(query.order_by(decisions.c.job_id.desc()).limit(1)).scalar() or ""

    def open_heads(self) -> set[str]:
        """The commits that are still needed: those not decided, and those whose promotion or report is still to be done."""
        waiting = select(submissions.c.sha).where(submissions.c.state.in_((State.QUEUED, State.RUNNING)))
        unsent = select(submissions.c.sha).join(outbox).where(outbox.c.done < outbox.c.wanted)
        with self.database.read() as connection:
            return {str(sha) for query in (waiting, unsent) for sha in connection.execute(query).scalars()}

    def open_branches(self, repository: str) -> list[tuple[str, int]]:
        """Branch and number of everything that is not decided yet."""
        query = select(submissions.c.branch, submissions.c.number).distinct()
        query = query.where(submissions.c.repository == repository)
        query = query.where(submissions.c.state.in_((State.QUEUED, State.RUNNING)))
        with self.database.read() as connection:
            return [(str(branch), int(number)) for branch, number in connection.execute(query)]

    def unapproved(self, repository: str, commits: Collection[str]) -> list[Submission]:
        """What of these was looked at, and waits for an approval before it is run."""
        query = submissions_query().add_columns(decisions.c.checks).join(decisions, decisions.c.job_id == jobs.c.id)
        query = query.where(submissions.c.repository == repository, submissions.c.approved == "")
        query = query.where(submissions.c.state == State.DECIDED, submissions.c.answer == Answer.PERSON)
        query = query.where(decisions.c.checks.contains(_AUTHOR))
        with self.database.read() as connection:
            rows = [row for row in connection.execute(query) if row.sha in commits]
        return [as_submission(row) for row in rows if any(map(_asks_for_approval, _CHECKS.decode(row.checks)))]

    def find(self, sha: str, name: str = "") -> list[Submission]:
        """The submissions of a commit."""
        query = submissions_query().where(submissions.c.sha == sha)
        query = query.where(submissions.c.name == name) if name else query
        with self.database.read() as connection:
            return [as_submission(row) for row in connection.execute(query)]

    def counts(self) -> Counts:
        by_state = select(submissions.c.state, func.count()).group_by(submissions.c.state)
        by_answer = select(decisions.c.answer, func.count()).group_by(decisions.c.answer)
        waiting = select(func.min(jobs.c.queued_at)).where(jobs.c.state == State.QUEUED)
        unsent = select(func.count()).where(outbox.c.done < outbox.c.wanted)
        with self.database.read() as connection:
            states = {str(state): int(number) for state, number in connection.execute(by_state)}
            return Counts(
                queued=states.get(State.QUEUED, 0),
                running=states.get(State.RUNNING, 0),
                answers={str(answer): int(number) for answer, number in connection.execute(by_answer)},
                oldest_at=connection.execute(waiting).scalar() or 0.0,
                unsent=connection.execute(unsent).scalar() or 0,
            )


def submissions_query() -> Select[Any]:
    """Every submission beside its newest job, newest first."""
    rounds = jobs.alias("rounds")
    newest = select(func.max(rounds.c.id)).where(rounds.c.submission_id == submissions.c.id).scalar_subquery()
    columns = (jobs.c.attempts, jobs.c.round, jobs.c.queued_at, jobs.c.started_at, jobs.c.ended_at.label("decided_at"))
    return (
        select(submissions, *columns)
        .select_from(submissions)
        .join(jobs, jobs.c.id == newest)
        .order_by(submissions.c.id.desc())
    )


def one_submission(connection: Connection, identity: int) -> Submission | None:
    row = connection.execute(submissions_query().where(submissions.c.id == identity)).one_or_none()
    return as_submission(row) if row is not None else None


def as_submission(row: Row[Any]) -> Submission:
    values = {name: row._mapping[name] for name in Submission.__struct_fields__}
    return Submission(**{**values, "state": State(row.state)})


def _asks_for_approval(check: Check) -> bool:
    return check.name == _AUTHOR and check.outcome is CheckOutcome.UNDECIDED


def as_line(row: Row[Any]) -> LogLine:
    return LogLine(at=row.at, level=Level(row.level), text=row.text)


def _as_decided(row: Row[Any]) -> Decided:
    return Decided(
        answer=row.answer,
        reasons=_REASONS.decode(row.reasons),
        checks=_CHECKS.decode(row.checks),
        digest=row.digest,
        base=row.base,
        record=row.record,
        at=row.at,
    )
