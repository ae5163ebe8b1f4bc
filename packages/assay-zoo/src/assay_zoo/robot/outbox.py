"""What is still to be done of a submission outside the database: to report it, to promote it, to notify people.

One row for each submission and kind, with two counters: `wanted` goes up whenever there is news, and `done` follows it
once that news was delivered. What is told is made from the state at that moment, so that a delivery that is repeated, or
that stands for several, is right. Nothing is lost when the robot dies, the forge is down or the mail server sleeps.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from types import TracebackType

import msgspec
from sqlalchemy import Connection, and_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from assay.errors import StoreError
from assay_zoo.robot.database import Database
from assay_zoo.robot.tables import outbox

LEASE_S = 60.0
_BEATS = 4
"""Renewals within one lease: some of them may fail."""


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
    """Emptied by one thread of each robot. A delivery is held by a lease that is renewed while it goes on (`held`), so that
    what a killed robot had in hand is taken up by another within `lease_s`."""

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

    def renew(self, due: DueEntry) -> DueEntry | None:
        """The same with a later end; None where it is not ours any more."""
        until = self._now() + self._lease_s
        if not self._change(due, {"lease_until": until}):
            return None
        return msgspec.structs.replace(due, lease_until=until)

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


class LeaseRenewal:
    """`with LeaseRenewal(outbox, due, lease_s) as held:` around the delivery; `held.due` afterwards is what to report as done. A lease
    that is lost is not asked for again: whoever has it now delivers, and every delivery is right however often it is made."""

    def __init__(self, outbox: Outbox, due: DueEntry, lease_s: float) -> None:
        self.due = due
        self._outbox, self._pause_s = outbox, lease_s / _BEATS
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"holding-{due.kind}", daemon=True)

    def __enter__(self) -> LeaseRenewal:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._pause_s):
            with contextlib.suppress(StoreError):
                renewed = self._outbox.renew(self.due)
                if renewed is None:
                    return
                self.due = renewed
