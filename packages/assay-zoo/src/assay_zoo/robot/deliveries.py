"""Hints that came by webhook, kept until they were looked into: each delivery is taken once, a replay is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from sqlalchemy import delete, select, update

from assay_zoo.robot.database import Database
from assay_zoo.robot.tables import deliveries

_AT_ONCE = 500
KEPT_S = 90 * 86400.0
"""How long a delivery is remembered, so that it is refused when it comes again."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """Something may have changed there: a request by its number, or a branch; neither: look everywhere. With a `sha`: what
    was submitted with this commit is to be checked once more, or of it only the submission `number`. `ids` are the
    deliveries that said so."""

    branch: str = ""
    number: int = 0
    sha: str = ""
    ids: tuple[int, ...] = ()
    attempts: int = 0


class Deliveries:
    def __init__(self, database: Database, *, now: Callable[[], float] = time.time) -> None:
        self._database = database
        self._now = now

    def receive(self, delivery: str, body_sha256: str, hint: Hint) -> bool:
        """False for a replay: the same delivery, or the same signed body under another id (the signature does not cover
        the id)."""
        with self._database.write() as connection:
            return self._database.insert_new(
                connection,
                deliveries,
                delivery=delivery,
                body_sha256=body_sha256,
                branch=hint.branch,
                number=hint.number,
                sha=hint.sha,
                state="new",
                received_at=self._now(),
            )

    def waiting(self) -> list[Hint]:
        """The hints that nobody has looked into yet, oldest first; what several deliveries say is one hint."""
        query = (
            select(deliveries)
            .where(deliveries.c.state == "new", deliveries.c.not_before <= self._now())
            .order_by(deliveries.c.id)
            .limit(_AT_ONCE)
        )
        hints: dict[tuple[str, int, str], Hint] = {}
        with self._database.read() as connection:
            for row in connection.execute(query):
                place = (row.branch, row.number, row.sha)
                before = hints.get(place, Hint(branch=row.branch, number=row.number, sha=row.sha))
                hints[place] = msgspec.structs.replace(
                    before, ids=(*before.ids, row.id), attempts=max(before.attempts, row.attempts)
                )
        return list(hints.values())

    def looked(self, hint: Hint) -> None:
        with self._database.write() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id.in_(hint.ids)).values(state="done"))

    def forget_old(self) -> None:
        """What was looked into longer than KEPT_S ago."""
        old = deliveries.c.received_at < self._now() - KEPT_S
        with self._database.write() as connection:
            connection.execute(delete(deliveries).where(old, deliveries.c.state == "done"))

    def later(self, hint: Hint, seconds: float) -> None:
        """Could not be looked into now."""
        values = {"not_before": self._now() + seconds, "attempts": hint.attempts + 1}
        with self._database.write() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id.in_(hint.ids)).values(**values))
