"""What is still to be done of a submission outside the database: to report it, to promote it, to notify people.

One row for each submission and kind, with two counters: `wanted` goes up whenever there is news, and `done` follows it
once that news was delivered. What is told is made from the state at that moment, so that a delivery that is repeated, or
that stands for several, is right. Nothing is lost when the robot dies, the forge is down or the mail server sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum

import msgspec
from sqlalchemy import Connection, and_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from assay_zoo.robot.database import Database
from assay_zoo.robot.tables import outbox

LEASE_S = 600.0
"""More than a delivery takes. One that takes longer is made by another robot, too: it is right however often it is made."""


class OutboxEntry(StrEnum):
    REPORT = "report"
    PROMOTE = "promote"
    ALERT = "alert"


class DueEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Something to deliver now. `wanted` is the news that it stands for; `lease_until` proves that it is still ours."""

    id: int
    submission_id: int
    kind: OutboxEntry
    wanted: int
    attempts: int
    lease_until: float


def enqueue(connection: Connection, submission: int, kind: OutboxEntry) -> None:
    """There is news; in the transaction of what is new."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    row = insert(outbox).values(submission_id=submission, kind=kind, wanted=1)
    news = {"wanted": outbox.c.wanted + 1, "not_before": 0.0, "attempts": 0}
    connection.execute(row.on_conflict_do_update(index_elements=["submission_id", "kind"], set_=news))


class Outbox:
    """Emptied by one thread of each robot. A delivery is held by a lease: what a killed robot had in hand is taken up by another after
    `lease_s`."""

    def __init__(self, database: Database, *, lease_s: float = LEASE_S, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._lease_s = lease_s
        self._now = now

    def take(self) -> DueEntry | None:
        """The next delivery, held for `lease_s`; promotions before reports, so that a report can speak of them."""
        now = self._now()
        due = and_(outbox.c.done < outbox.c.wanted, outbox.c.not_before <= now, outbox.c.lease_until < now)
        first = (
            select(outbox).where(due).order_by(outbox.c.kind != OutboxEntry.PROMOTE, outbox.c.not_before, outbox.c.id)
        )
        with self._database.write() as connection:
            row = connection.execute(first.limit(1).with_for_update(skip_locked=True)).one_or_none()
            if row is None:
                return None
            until = now + self._lease_s
            connection.execute(update(outbox).where(outbox.c.id == row.id).values(lease_until=until))
            return DueEntry(
                id=row.id,
                submission_id=row.submission_id,
                kind=OutboxEntry(row.kind),
                wanted=row.wanted,
                attempts=row.attempts,
                lease_until=until,
            )

    def done(self, due: DueEntry) -> None:
        """Delivered. News that came meanwhile is delivered next."""
        values = {"done": due.wanted, "lease_until": 0.0, "attempts": 0, "error": ""}
        self._change(due, values)

    def later(self, due: DueEntry, seconds: float, error: str) -> None:
        """Not delivered; to be tried again after `seconds`."""
        values = {"lease_until": 0.0, "not_before": self._now() + seconds, "attempts": due.attempts + 1}
        self._change(due, {**values, "error": error})

    def forget_leases(self) -> None:
        """At the start of the only robot of a database: what its predecessor held is free."""
        with self._database.write() as connection:
            connection.execute(update(outbox).where(outbox.c.lease_until > 0).values(lease_until=0.0))

    def _change(self, due: DueEntry, values: dict[str, object]) -> bool:
        mine = and_(outbox.c.id == due.id, outbox.c.lease_until == due.lease_until)
        with self._database.write() as connection:
            return connection.execute(update(outbox).where(mine).values(**values)).rowcount == 1
