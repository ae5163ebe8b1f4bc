"""The history in a database: SQLite in a file by default, PostgreSQL where it is shared."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy.sql.selectable import Select

from assay.core.alert import Alert
from assay.core.annotation import Annotation
from assay.core.job import AnyJob
from assay.core.kept_folder import KeptFolder
from assay.core.result import AnyResult, Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.errors import RunNotFound
from assay.ports import PastResult, RunSearch, RunSummary
from assay.ports.browsing import JobState
from assay.stores import dashboard_queries
from assay.stores.annotations import add_annotation, read_annotations
from assay.stores.encoded_result import encode, pack, unpack
from assay.stores.errors import translate_errors
from assay.stores.find_run import exact_run, find_run
from assay.stores.history_tables import alerts as alert_rows
from assay.stores.history_tables import case_state, result_payloads, results, run_payloads, run_summary, runs
from assay.stores.ingest import add_results, add_run, judge_run
from assay.stores.kept_folders import change_folders, read_folders
from assay.stores.metric_values import constant_numbers
from assay.stores.retention import roll_up
from assay.stores.search import cell_rows, jobs_of, run_before, searched
from assay.stores.sql_browsing import SqlBrowsing
from assay.stores.statements import among, chunks

_RUNS: msgspec.msgpack.Decoder[Run] = msgspec.msgpack.Decoder(Run)
_JOBS: msgspec.msgpack.Decoder[tuple[AnyJob, ...]] = msgspec.msgpack.Decoder(tuple[AnyJob, ...])
_ALERTS: msgspec.msgpack.Decoder[Alert] = msgspec.msgpack.Decoder(Alert)
_HEADS = select(run_payloads.c.payload, runs.c.status, runs.c.number, runs.c.id).join(
    runs, runs.c.number == run_payloads.c.run
)
_RESULTS: msgspec.msgpack.Decoder[AnyResult] = msgspec.msgpack.Decoder(AnyResult)


class SqlStore(SqlBrowsing):
    """Implements `assay.ports.Store`. Every call is one transaction; a writer waits up to `busy_s` for another.

    `location` is a path or an address `postgresql+psycopg://user@host/database`. All methods raise StoreError where the
    database cannot be used, in one sentence; NewerHistory comes at construction. Threads may share a store; a process
    that is forked makes its own. One that is `read_only` makes and migrates nothing, and the database refuses what would change it.
    """

    def open_run(self, run: Run) -> None:
        """Record a run before its first job; one that is there already stays as it is."""
        self.write(lambda connection: add_run(connection, run))

    def record(self, run_id: str, results: Sequence[Result]) -> None:
        """Append results; those whose job key the run has already are left out. `run_id` is a whole id."""
        arrived, payloads = encode(results)
        constants = self.constants(payloads)

        def write(connection: Connection) -> None:
            add_results(connection, exact_run(connection, run_id, self.name), arrived, constants)

        self.write(write)

    def constants(self, payloads: dict[bytes, bytes]) -> dict[bytes, int]:
        """Numbers of constants by digest, for what refers to them; those that nobody has written yet are written now, for good."""
        new = {digest: payload for digest, payload in payloads.items() if digest not in self._constants}
        if new:
            self._constants |= self.write(lambda connection: constant_numbers(connection, new))
        return self._constants

    def close_run(self, run_id: str, status: str, judgement: RunVerdict) -> None:
        """Set the status and the words; a run may be closed again with another judgement. `run_id` is a whole id."""

        def write(connection: Connection) -> None:
            number = exact_run(connection, run_id, self.name)
            connection.execute(update(runs).where(runs.c.number == number).values(status=status))
            judge_run(connection, number, judgement)

        self.write(write)

    def run(self, run_id: str) -> Run:
        """The run with that id, or a unique beginning of it, or "last", with its present status."""
        with self.reading() as connection:
            number = find_run(connection, run_id, self.name)
            return replace(_head(connection, number), jobs=_JOBS.decode(_jobs(connection, number)))

    def runs(self, limit: int = 50, search: RunSearch = RunSearch()) -> list[RunSummary]:
        """Newest first."""
        return self._summaries(limit, *searched(search))

    def branches(self, limit: int) -> list[RunSummary]:
        """By the index of branches, without their runs."""
        newest = select(func.max(runs.c.id)).where(runs.c.branch != "").group_by(runs.c.branch)
        return self._summaries(limit, runs.c.id.in_(newest))

    def _summaries(self, limit: int, *conditions: ColumnElement[bool]) -> list[RunSummary]:
        columns = [column for column in (*runs.c, *run_summary.c) if column.name not in ("number", "run", "names")]
        query = select(*columns, runs.c.number).join(run_summary, run_summary.c.run == runs.c.number)
        with self.reading() as connection:
            rows = connection.execute(query.where(*conditions).order_by(runs.c.id.desc()).limit(limit)).mappings().all()
        self._run_numbers.keep((row["id"], row["number"]) for row in rows)
        return [RunSummary(**{column.name: row[column.name] for column in columns}) for row in rows]

    def results(self, run_id: str, jobs: Collection[str] | None = None) -> list[Result]:
        """In the order recorded. `run_id` as in `run`."""
        with self.reading() as connection:
            (number,) = self._run_numbers.find(connection, [run_id], self.name)
            query = _with_payloads().where(results.c.run == number)
            if jobs is None:
                rows = connection.execute(query.order_by(results.c.number)).all()
            else:
                of_jobs = query.join(case_state, case_state.c.number == results.c.job)
                key, each = case_state.c.job_key, chunks(sorted(set(jobs)))
                some = [of_jobs.where(among(connection, key, keys)) for keys in each]
                rows = sorted(
                    (row for condition in some for row in connection.execute(condition).all()),
                    key=lambda row: row.number,
                )
            return [unpack(row.payload, _RESULTS) for row in rows]

    def history(self, case: str, flow: str) -> list[PastResult]:
        """All results of one cell: newest run first, those of one run in the order recorded."""
        with self.reading() as connection:
            return [
                PastResult(row.id, row.started_at, row.commit, row.machine, unpack(row.payload, _RESULTS))
                for row in connection.execute(cell_rows(case, flow))
            ]

    def run_before(self, run_id: str, cells: Collection[tuple[str, str]]) -> str:
        """The newest complete run before `run_id` that has a result of one of these cells; "" where there is none."""
        with self.reading() as connection:
            return run_before(connection, run_id, cells)

    def states(self, outcome: str = "") -> list[JobState]:
        """How every job stands now, or those with that outcome, sorted by job key."""
        query = dashboard_queries.state_rows().order_by(case_state.c.job_key)
        with self.reading() as connection:
            return list(
                dashboard_queries.read_states(
                    connection, query.where(case_state.c.outcome == outcome) if outcome else query
                )
            )

    def cell(self, run_id: str, case: str, flow: str) -> tuple[Run, list[Result]]:
        """Raises RunNotFound where that run has no such cell, too."""
        with self.reading() as connection:
            newest = run_id or dashboard_queries.newest_run_of(connection, case, flow)
            number = find_run(connection, newest, self.name) if newest else 0
            query = _with_payloads().where(results.c.run == number, results.c.job.in_(jobs_of(case, flow)))
            rows = connection.execute(query.order_by(results.c.number))
            cell_results: list[Result] = [unpack(row.payload, _RESULTS) for row in rows]
            if not cell_results:
                lacks = f"run {newest} in {self.name} has no" if newest else f"no run in {self.name} has"
                raise RunNotFound(f"{lacks} {case} on {flow}")
            jobs = dashboard_queries.only_cell(_jobs(connection, number), case, flow)
            return replace(_head(connection, number), jobs=_JOBS.decode(msgspec.msgpack.encode(jobs))), cell_results

    def run_facts(self, run_id: str) -> Run:
        """With its present status."""
        with self.reading() as connection:
            row = connection.execute(_HEADS.where(runs.c.id == run_id)).first()
            if row is None:
                return _head(connection, find_run(connection, run_id, self.name))
            self._run_numbers.keep([(row.id, row.number)])
            return _whole(row)

    def add_annotation(self, annotation: Annotation) -> None:
        """Annotations are not changed and not removed."""
        self.write(
            lambda connection: add_annotation(connection, annotation, exact_run(connection, annotation.run, self.name))
        )

    def annotations(
        self, run_id: str = "", case: str = "", flow: str = "", limit: int | None = None
    ) -> list[Annotation]:
        """By an index where a run or a cell is named."""
        with self.reading() as connection:
            return read_annotations(connection, run_id, case, flow, limit)

    def alerts(self) -> list[Alert]:
        """The oldest first."""
        with self.reading() as connection:
            return _read_alerts(connection)

    def change_alerts(self, change: Callable[[list[Alert]], Sequence[Alert]]) -> None:
        """Put what `change` makes of all alerts in their place. No other writer comes between."""

        def write(connection: Connection) -> None:
            before = _read_alerts(connection)
            after = change(before)
            if list(after) == before:
                return
            connection.execute(delete(alert_rows))
            if after:
                connection.execute(insert(alert_rows), [{"id": alert.id, "payload": pack(alert)} for alert in after])

        self.write(write, alone=True)

    def folders(self, names: Collection[str] | None = None) -> dict[str, KeptFolder]:
        """Those with these names; a name that ends in / stands for all below it. None: all."""
        with self.reading() as connection:
            return read_folders(connection, names)

    def change_folders(
        self,
        names: Collection[str],
        change: Callable[[Mapping[str, KeptFolder]], Mapping[str, KeptFolder | None]],
    ) -> None:
        """`change` gets those of `names` that are there, and says what each becomes. No other writer comes between."""
        self.write(lambda connection: change_folders(connection, names, change), alone=True)

    def roll_up(self, before: str, shorten: Callable[[Result], Result | None]) -> int:
        """Put what `shorten` makes of the results of complete runs before that time in their place, some in a transaction."""
        count = roll_up(self, before, lambda payload: _shortened(payload, shorten))
        if count and self.engine.dialect.name == "sqlite":
            with translate_errors(self.name), self.engine.connect() as connection:
                # In a transaction it is refused: the driver's own connection begins none.
                connection.connection.driver_connection.execute("VACUUM")  # type: ignore[union-attr]
        return count


def _head(connection: Connection, number: int) -> Run:
    """With its present status, without its jobs."""
    return _whole(connection.execute(_HEADS.where(runs.c.number == number)).one())


def _whole(row: Any) -> Run:
    return replace(unpack(row.payload, _RUNS), status=row.status)


def _jobs(connection: Connection, number: int) -> bytes:
    """As msgpack."""
    packed = connection.execute(select(run_payloads.c.jobs).where(run_payloads.c.run == number)).scalar_one()
    return zlib.decompress(packed)


def _with_payloads() -> Select[tuple[int, bytes]]:
    return select(results.c.number, result_payloads.c.payload).join(
        result_payloads, result_payloads.c.result == results.c.number
    )


def _read_alerts(connection: Connection) -> list[Alert]:
    alerts = [unpack(payload, _ALERTS) for payload in connection.scalars(select(alert_rows.c.payload))]
    return sorted(alerts, key=lambda alert: (alert.first_at, alert.id))


def _shortened(payload: bytes, shorten: Callable[[Result], Result | None]) -> bytes | None:
    short = shorten(unpack(payload, _RESULTS))
    return None if short is None else pack(short)
