"""The queue: what is submitted, who works on it, and what was decided, each job exactly once.

A worker holds a job by a lease that it renews. A lease that ran out is taken up again with a higher fence, and whoever
held it before (a stopped machine that woke up, a process that was thought dead) is refused from then on: every write of
a worker names its fence. A decision and what must be told of it are one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, insert, or_, select, update

from assay_zoo.robot.database import Database
from assay_zoo.robot.outbox import OutboxEntry, enqueue
from assay_zoo.robot.queries import Queries, one_submission
from assay_zoo.robot.queue_records import Decided, Head, Lease, Level, State, Submission
from assay_zoo.robot.tables import decisions, events, jobs, submissions

LEASE_S = 60.0
_DONE = "done"
_CANCELLED = "cancelled"
_OPEN = (State.QUEUED, State.RUNNING)
_TEXT_MOST = 4000


class Queue(Queries):
    """Opened by every worker and page; safe in several threads and processes. `now` is the clock, in seconds
    since 1970; robots that share a database need clocks that agree within a small part of `lease_s`."""

    def __init__(self, database: Database, *, lease_s: float = LEASE_S, now: Callable[[], float] = time.time) -> None:
        super().__init__(database)
        self._lease_s = lease_s
        self._now = now

    def enqueue(self, repository: str, head: Head, name: str) -> tuple[int, bool]:
        """The id of the submission, and whether it is to be worked on again. The same commit twice is one submission, of the branch or
        request that has it now; older commits of the same branch that are not decided yet are cancelled."""
        with self.database.write() as connection:
            new = self.database.insert_new(
                connection,
                submissions,
                repository=repository,
                name=name,
                state=State.QUEUED,
                received_at=self._now(),
                **msgspec.structs.asdict(head),
            )
            key = and_(
                submissions.c.repository == repository, submissions.c.sha == head.sha, submissions.c.name == name
            )
            row = connection.execute(select(submissions).where(key).with_for_update()).one()
            # A branch that is put back to a commit whose check was cancelled: that commit is wanted again.
            again = not new and row.state in (State.SUPERSEDED, State.WITHDRAWN)
            if again:
                self._place(connection, row.id, head)
            if new or again:
                self._new_round(connection, row.id)
                self._note(connection, row.id, f"{head.sha[:12]} of {head.branch} is in the queue")
            self._supersede(connection, repository, head, name)
            return int(row.id), new or again

    def take_over(self, identity: int, head: Head) -> bool:
        """A decided commit whose branch or request is gone is handed in by another: it is checked as that one's. False where it is not
        decided, or in the zoo already."""
        with self.database.write() as connection:
            columns = (submissions.c.state, submissions.c.promoted)
            row = connection.execute(select(*columns).where(submissions.c.id == identity).with_for_update()).first()
            if row is None or row.state != State.DECIDED or row.promoted:
                return False
            self._place(connection, identity, head)
            self._new_round(connection, identity)
            self._note(connection, identity, f"{head.branch} hands in the same commit")
            return True

    def _place(self, connection: Connection, identity: int, head: Head) -> None:
        """Where it is submitted, and by whom; what was approved of one author is not approved of another."""
        place = update(submissions).where(submissions.c.id == identity)
        connection.execute(place.where(submissions.c.author != head.author).values(approved=""))
        connection.execute(place.values(**msgspec.structs.asdict(head)))

    def rerun(self, identity: int, why: str) -> bool:
        """Put a decided submission into the queue once more; False where there is none that is decided."""
        with self.database.write() as connection:
            query = select(submissions.c.state).where(submissions.c.id == identity).with_for_update()
            if connection.execute(query).scalar() != State.DECIDED:
                return False
            self._new_round(connection, identity)
            self._note(connection, identity, f"is checked again: {why}")
            return True

    def approve(self, identity: int, by: str) -> bool:
        """Code of this commit may be run; it is checked once more where it was decided. False where there is none, or where it
        was approved before."""
        with self.database.write() as connection:
            columns = (submissions.c.state, submissions.c.approved)
            row = connection.execute(select(*columns).where(submissions.c.id == identity).with_for_update()).first()
            if row is None or row.approved:
                return False
            connection.execute(update(submissions).where(submissions.c.id == identity).values(approved=by))
            self._note(connection, identity, f"{by} approved that its code is run")
            if row.state == State.DECIDED:
                self._new_round(connection, identity)
            return True

    def withdraw(self, repository: str, branch: str, number: int, why: str) -> int:
        """Cancel what is not decided yet of a branch or request that is gone; how many."""
        with self.database.write() as connection:
            gone = and_(
                submissions.c.repository == repository, submissions.c.branch == branch, submissions.c.number == number
            )
            return self._cancel(connection, gone, State.WITHDRAWN, why)

    def leave(self, known: Submission, state: State, why: str) -> None:
        """A decided commit that its branch or request has no more: handed in again, it is checked again. What is another's by now stays."""
        row = submissions.c
        still = and_(
            row.id == known.id, row.state == State.DECIDED, row.branch == known.branch, row.number == known.number
        )
        with self.database.write() as connection:
            if connection.execute(update(submissions).where(still).values(state=state, answer="")).rowcount:
                self._note(connection, known.id, why)
                enqueue(connection, known.id, OutboxEntry.REPORT)

    def cancel(self, lease: Lease, state: State, why: str) -> None:
        """Give a job up because its commit is no longer the newest."""
        with self.database.write() as connection:
            self._cancel(connection, submissions.c.id == lease.submission.id, state, why)

    def lease(self, worker: str) -> Lease | None:
        """The job that waits longest, or one whose worker did not come back; None where there is nothing to do."""
        now = self._now()
        waiting = and_(jobs.c.state == State.QUEUED, jobs.c.not_before <= now)
        orphaned = and_(jobs.c.state == State.RUNNING, jobs.c.lease_until < now)
        query = select(jobs).where(or_(waiting, orphaned)).order_by(jobs.c.queued_at, jobs.c.id).limit(1)
        with self.database.write() as connection:
            row = connection.execute(query.with_for_update(skip_locked=True)).one_or_none()
            if row is None:
                return None
            if row.state == State.RUNNING:
                self._note(
                    connection, row.submission_id, f"{row.worker} did not come back; taken up again", Level.WARNING
                )
            connection.execute(
                update(jobs)
                .where(jobs.c.id == row.id)
                .values(
                    state=State.RUNNING,
                    worker=worker,
                    fence=row.fence + 1,
                    taken=row.taken + 1,
                    lease_until=now + self._lease_s,
                    started_at=row.started_at or now,
                )
            )
            self._set_state(connection, row.submission_id, State.RUNNING)
            enqueue(connection, row.submission_id, OutboxEntry.REPORT)
            submission = one_submission(connection, row.submission_id)
            assert submission is not None
            return Lease(
                job=row.id,
                submission=submission,
                fence=row.fence + 1,
                attempts=row.attempts,
                taken=row.taken + 1,
                worker=worker,
            )

    def heartbeat(self, lease: Lease) -> bool:
        """Renew the lease; False where it is lost: the job was taken up by another, or cancelled."""
        renewed = update(jobs).where(_held(lease)).values(lease_until=self._now() + self._lease_s)
        with self.database.write() as connection:
            return connection.execute(renewed).rowcount == 1

    def give_back(self, lease: Lease, why: str, *, after_s: float = 0.0, counted: bool = True) -> bool:
        """Put the job back without an answer. `counted`: the inspection failed (else only the worker goes away)."""
        changed = update(jobs).where(_held(lease))
        changed = changed.values(
            state=State.QUEUED,
            not_before=self._now() + after_s,
            attempts=jobs.c.attempts + int(counted),
            taken=jobs.c.taken - int(not counted),
        )
        with self.database.write() as connection:
            if connection.execute(changed).rowcount != 1:
                return False
            self._set_state(connection, lease.submission.id, State.QUEUED)
            self._note(connection, lease.submission.id, why, Level.WARNING if counted else Level.INFO)
            return True

    def forget_workers(self, prefix: str) -> int:
        """Put back at once what dead workers of this robot held (their names begin with `prefix`); how many."""
        with self.database.write() as connection:
            held = and_(jobs.c.state == State.RUNNING, jobs.c.worker.startswith(prefix, autoescape=True))
            identities = connection.execute(select(jobs.c.submission_id).where(held).with_for_update()).scalars().all()
            # A higher fence, so that a worker that is not as dead as it seems is refused.
            connection.execute(update(jobs).where(held).values(state=State.QUEUED, fence=jobs.c.fence + 1))
            for identity in identities:
                self._set_state(connection, identity, State.QUEUED)
                self._note(connection, identity, "the robot was restarted; the check begins again", Level.WARNING)
            return len(identities)

    def decide(self, lease: Lease, decided: Decided, wishes: Sequence[OutboxEntry], inspection: str = "") -> bool:
        """Record the decision, the whole inspection (JSON, "" for none) and what is to be done of it. False where the
        lease is lost: then nothing is recorded."""
        with self.database.write() as connection:
            now = self._now()
            ended = update(jobs).where(_held(lease)).values(state=_DONE, ended_at=now)
            if connection.execute(ended).rowcount != 1:
                return False
            identity = lease.submission.id
            connection.execute(
                insert(decisions).values(
                    job_id=lease.job,
                    submission_id=identity,
                    fence=lease.fence,
                    worker=lease.worker,
                    answer=decided.answer,
                    reasons=msgspec.json.encode(decided.reasons).decode(),
                    checks=msgspec.json.encode(decided.checks).decode(),
                    digest=decided.digest,
                    base=decided.base,
                    record=decided.record,
                    inspection=inspection,
                    at=now,
                )
            )
            connection.execute(
                update(submissions)
                .where(submissions.c.id == identity)
                .values(state=State.DECIDED, answer=decided.answer, trouble="")
            )
            for wish in dict.fromkeys((OutboxEntry.REPORT, *wishes)):
                enqueue(connection, identity, wish)
            self._note(connection, identity, f"decision: {decided.answer}")
            return True

    def promoted(self, identity: int, commit: str, trouble: str = "", wishes: Sequence[OutboxEntry] = ()) -> None:
        """What became of a promotion: its commit, or why a person must look at it."""
        with self.database.write() as connection:
            values = {"promoted": commit, "trouble": trouble}
            connection.execute(update(submissions).where(submissions.c.id == identity).values(**values))
            for wish in (OutboxEntry.REPORT, *wishes):
                enqueue(connection, identity, wish)
            level = Level.ERROR if trouble else Level.INFO
            self._note(connection, identity, trouble or f"promoted by commit {commit[:12]}", level)

    def note(self, identity: int, text: str, level: Level = Level.INFO) -> None:
        """A line of the log of a submission."""
        with self.database.write() as connection:
            self._note(connection, identity, text, level)

    def _note(self, connection: Connection, identity: int, text: str, level: Level = Level.INFO) -> None:
        values = {"submission_id": identity, "at": self._now(), "level": level, "text": _printable(text)}
        connection.execute(insert(events).values(**values))

    def _new_round(self, connection: Connection, identity: int) -> None:
        last = select(jobs.c.round).where(jobs.c.submission_id == identity).order_by(jobs.c.round.desc()).limit(1)
        number = (connection.execute(last).scalar() or 0) + 1
        values = {"submission_id": identity, "round": number, "state": State.QUEUED, "queued_at": self._now()}
        connection.execute(insert(jobs).values(**values))
        cleared = {"state": State.QUEUED, "answer": "", "trouble": ""}
        connection.execute(update(submissions).where(submissions.c.id == identity).values(**cleared))
        enqueue(connection, identity, OutboxEntry.REPORT)

    def _supersede(self, connection: Connection, repository: str, head: Head, name: str) -> None:
        older = and_(
            submissions.c.repository == repository,
            submissions.c.branch == head.branch,
            submissions.c.number == head.number,
            submissions.c.name == name,
            submissions.c.sha != head.sha,
        )
        self._cancel(connection, older, State.SUPERSEDED, f"{head.sha[:12]} is the newer commit of {head.branch}")

    def _cancel(self, connection: Connection, which: ColumnElement[bool], state: State, why: str) -> int:
        # Jobs are locked before submissions, here as in `lease` and `decide`, so that two of them never wait for each other.
        query = select(jobs.c.id, jobs.c.submission_id).join(submissions).where(which, jobs.c.state.in_(_OPEN))
        waiting_jobs = connection.execute(query.with_for_update(of=jobs)).all()
        for job, identity in waiting_jobs:
            connection.execute(update(jobs).where(jobs.c.id == job).values(state=_CANCELLED))
            self._set_state(connection, identity, state)
            self._note(connection, identity, why)
            enqueue(connection, identity, OutboxEntry.REPORT)
        return len(waiting_jobs)

    def _set_state(self, connection: Connection, identity: int, state: State) -> None:
        connection.execute(update(submissions).where(submissions.c.id == identity).values(state=state))


def _held(lease: Lease) -> ColumnElement[bool]:
    return and_(jobs.c.id == lease.job, jobs.c.fence == lease.fence, jobs.c.state == State.RUNNING)


def _printable(text: str) -> str:
    """One line without control characters: untrusted text may be in it."""
    cut = text if len(text) <= _TEXT_MOST else text[:_TEXT_MOST] + " ..."
    return "".join(c if c.isprintable() else " " for c in cut)
