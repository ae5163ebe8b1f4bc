"""Numbers of runs that were asked for a moment ago: the questions of a page are about the same few runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from assay.stores.find_run import find_run
from assay.stores.history_tables import runs
from assay.stores.statements import among, chunks

FRESH_S = 1.0
"""A run keeps its number, but a file or a database may be put in the place of another one."""
_MOST = 1000


class RunNumbers:
    """By whole id. Threads may share it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, float]] = {}

    def keep(self, numbers: Iterable[tuple[str, int]]) -> None:
        """What was read along with something else."""
        if len(self._known) > _MOST:
            self._known = {}
        until = time.monotonic() + FRESH_S
        self._known.update({run_id: (number, until) for run_id, number in numbers})

    def find(self, connection: Connection, run_ids: Sequence[str], name: str) -> list[int]:
        """Of each as `find_run`; whole ids that are not known in one statement."""
        numbers = self.of(connection, run_ids)
        return [numbers.get(run_id) or find_run(connection, run_id, name) for run_id in run_ids]

    def of(self, connection: Connection, run_ids: Sequence[str]) -> dict[str, int]:
        """Of those whole ids that are there."""
        now, known = time.monotonic(), self._known
        numbers = {
            run_id: entry[0] for run_id in run_ids if (entry := known.get(run_id)) is not None and entry[1] > now
        }
        missing = [run_id for run_id in run_ids if run_id not in numbers]
        for some in chunks(missing):
            query = select(runs.c.id, runs.c.number).where(among(connection, runs.c.id, some))
            rows = [(row.id, int(row.number)) for row in connection.execute(query).all()]
            self.keep(rows)
            numbers |= dict(rows)
        return numbers
