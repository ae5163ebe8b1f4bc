"""The questions of a dashboard, each in one transaction."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import Connection, select

from assay.ports.browsing import (
    CellQuery,
    JobPair,
    JobState,
    MatrixJob,
    MatrixPage,
    MetricHistory,
    RunMetrics,
    RunPair,
    RunWindow,
    Standing,
)
from assay.stores import dashboard_queries, run_pairs
from assay.stores.find_run import exact_run, find_run
from assay.stores.history_tables import runs
from assay.stores.matrix import StateNames, matrix
from assay.stores.metric_values import metric_history
from assay.stores.run_metrics import run_metrics
from assay.stores.sql_database import SqlDatabase
from assay.stores.standing import standing
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


class SqlBrowsing(SqlDatabase):
    """Implements what of `assay.ports.Browsable` opens no run; `assay.stores.sql.SqlStore` has the rest."""

    def __init__(self, location: str, *, busy_s: float = 30.0, read_only: bool = False) -> None:
        super().__init__(location, busy_s=busy_s, read_only=read_only)
        self._state_names = StateNames()
        self._run_numbers = RunNumbers()

    def standing(self, days: float, looked_at: int, limit: int) -> Standing:
        """See `ports.Browsable`."""
        with self.reading() as connection:
            return standing(connection, days, looked_at, limit)

    def matrix(self, query: CellQuery, first_case: int, cases: int, first_flow: int, flows: int) -> MatrixPage:
        """By name, in the order of the database."""
        with self.reading() as connection:
            return matrix(connection, query, (first_case, cases), (first_flow, flows), self.name, self._state_names)

    def said(self, text: str, looked_at: int, limit: int) -> list[tuple[JobState, str]]:
        """Payloads are read: of the present state alone."""
        with self.reading() as connection:
            return dashboard_queries.said(connection, text, looked_at, limit)

    def metric_history(
        self, case: str, flow: str, metrics: Sequence[str], window: RunWindow | None = None
    ) -> MetricHistory:
        """No payload is opened."""
        with self.reading() as connection:
            return metric_history(connection, case, flow, metrics, window)

    def run_pair(self, old: str, new: str) -> RunPair:
        """No payload is opened."""
        with self.reading() as connection:
            before, after = self._run_numbers.find(connection, (old, new), self.name)
            return run_pairs.run_pair(connection, before, after)

    def same_cells(
        self, old: str, new: str, changed: Collection[tuple[str, str]], first: int, count: int
    ) -> Sequence[JobPair]:
        """No payload is opened."""
        with self.reading() as connection:
            before, after = self._run_numbers.find(connection, (old, new), self.name)
            return run_pairs.same_cells(connection, before, after, changed, first, count)

    def previous_run(self, run_id: str) -> str:
        """By the numbers of its jobs."""
        with self.reading() as connection:
            before = run_pairs.previous_run(connection, run_id)
            if not before:
                exact_run(connection, run_id, self.name)  # who asks for a run that is not there is told
            return before

    def run_metrics(
        self, run_ids: Sequence[str], cells: Collection[tuple[str, str]], metrics: Collection[str] | None = None
    ) -> Sequence[RunMetrics]:
        """No payload is opened."""
        with self.reading() as connection:
            return run_metrics(connection, self._run_numbers.of(connection, run_ids), cells, metrics)

    def cell_runs(self, case: str, flow: str, limit: int) -> Sequence[MatrixJob]:
        """By the index of the cell's jobs."""
        with self.reading() as connection:
            return dashboard_queries.cell_runs(connection, case, flow, limit)
