"""Hints that came by webhook, kept until they were looked into: each delivery is taken once, a replay is refused."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec
from sqlalchemy import delete, select, update

from assay.faces.robot.database import Database
from assay.faces.robot.tables import deliveries

KEPT_S = 90 * 86400.0
"""How long a delivery is remembered, so that it is refused when it comes again."""


class Hint(msgspec.Struct, frozen=True, kw_only=True):
    """Something may have changed there: a request by its number, or a branch; neither: look everywhere."""

    id: int = 0
    branch: str = ""
    number: int = 0
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
                state="new",
                received_at=self._now(),
            )

    def waiting(self) -> list[Hint]:
        """The hints that nobody has looked into yet, oldest first."""
        query = (
            select(deliveries)
            .where(deliveries.c.state == "new", deliveries.c.not_before <= self._now())
            .order_by(deliveries.c.id)
            .limit(500)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [Hint(id=row.id, branch=row.branch, number=row.number, attempts=row.attempts) for row in rows]

    def looked(self, hint: Hint) -> None:
        with self._database.write() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id == hint.id).values(state="done"))
            old = deliveries.c.received_at < self._now() - KEPT_S
            connection.execute(delete(deliveries).where(old, deliveries.c.state == "done"))

    def later(self, hint: Hint, seconds: float) -> None:
        """Could not be looked into now."""
        values = {"not_before": self._now() + seconds, "attempts": hint.attempts + 1}
        with self._database.write() as connection:
            connection.execute(update(deliveries).where(deliveries.c.id == hint.id).values(**values))
