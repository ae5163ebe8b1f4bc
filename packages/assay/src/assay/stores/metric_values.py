"""The metrics of a result as plain numbers, and those of a cell through all runs, without opening a payload."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Select, Table, and_, func, select, true, union_all
from sqlalchemy import case as either

from assay.core.comparison import StatedMetric
from assay.core.result import Result
from assay.core.result_parts import measurements_of
from assay.judge.named_metrics import metrics, stated_by
from assay.ports.browsing import MetricHistory, MetricPoint, RunWindow
from assay.stats.percentiles import percentile
from assay.stores.history_tables import constants, metric_values, results, runs
from assay.stores.search import jobs_of_cells, verify_first
from assay.stores.statements import among, chunks, insert_for

SPREAD = (10.0, 25.0, 75.0, 90.0)
"""Percentiles of the raw samples of the smallest batch, in ms, that stand behind the metrics where there are samples."""

FIRST = 10
"""Numbers of a result that lie in the key's index on PostgreSQL: its spread, what trends are drawn of most, and what a
comparison shows of a result that was only verified."""
USUAL = (
    "latency.median_ms", "budget_used", "seconds", "throughput.per_s", "memory.run_peak_bytes", "artifact.bytes", "max_abs", "stage.load_s",
    "warnings",
)  # fmt: skip


class Names(msgspec.Struct, frozen=True):
    """What the numbers of a result are called, in their order; `spread` numbers that have no names follow, or come before them."""

    names: tuple[str, ...]
    stated: dict[str, StatedMetric] = {}
    spread: int = 0
    spread_first: bool = False

    def place(self, metric: str) -> int:
        """Which of all the numbers it is; -1 where there is no such metric."""
        if metric not in self.names:
            return -1
        return self.names.index(metric) + (self.spread if self.spread_first else 0)

    @property
    def spread_place(self) -> int:
        """Of the first number that has no name."""
        return 0 if self.spread_first else len(self.names)


_NAMES = msgspec.msgpack.Decoder(Names)
_VERSIONS = msgspec.msgpack.Decoder(dict[str, str])
_ENCODER = msgspec.msgpack.Encoder(order="deterministic")


class EncodedMetrics(msgspec.Struct, frozen=True):
    """Of one result: `names` and `versions` are digests of constants, `more_numbers` what comes behind the first."""

    names: bytes
    versions: bytes
    numbers: bytes
    more_numbers: bytes | None


def encode_metrics(result: Result, payloads: dict[bytes, bytes]) -> EncodedMetrics:
    """The constants that they need go to `payloads`: payloads by digest."""
    named = metrics(result)
    names = [*(metric for metric in USUAL if metric in named), *(metric for metric in named if metric not in USUAL)]
    spread = _spread(result)
    values = (*spread, *(named[name] for name in names))
    numbers = struct.pack(f"<{len(values)}d", *values)
    return EncodedMetrics(
        _constant(payloads, Names(tuple(names), stated_by(result), len(spread), spread_first=True)),
        _constant(payloads, result.versions),
        numbers[: 8 * FIRST],
        numbers[8 * FIRST :] or None,
    )


def constant_numbers(connection: Connection, payloads: dict[bytes, bytes]) -> dict[bytes, int]:
    """The numbers of constants by their digests; those that are new are added. `payloads` are payloads by digest. In a transaction of its
    own: until it ends, whoever adds the same ones waits."""
    known = _known(connection, list(payloads))
    missing = sorted(payloads.keys() - known.keys())
    if missing:
        rows = [{"digest": digest, "payload": payloads[digest]} for digest in missing]
        connection.execute(insert_for(connection, constants).on_conflict_do_nothing(index_elements=["digest"]), rows)
        known |= _known(connection, missing)
    return known


def _known(connection: Connection, digests: Sequence[bytes]) -> dict[bytes, int]:
    return {
        row.digest: row.number
        for some in chunks(digests)
        for row in connection.execute(
            select(constants.c.digest, constants.c.number).where(constants.c.digest.in_(some))
        )
    }


def _constant(payloads: dict[bytes, bytes], value: Names | dict[str, str]) -> bytes:
    payload = _ENCODER.encode(value)
    digest = hashlib.sha256(payload).digest()[:16]
    payloads[digest] = payload
    return digest


def _spread(result: Result) -> tuple[float, ...]:
    smallest = min(measurements_of(result), key=lambda measurement: measurement.batch, default=None)
    spread = [percentile(smallest.wall_s, at) for at in SPREAD] if smallest is not None else []
    known = tuple(1e3 * value for value in spread if value is not None)
    return known if len(known) == len(SPREAD) else ()


def metric_history(
    connection: Connection, case: str, flow: str, metrics: Sequence[str], window: RunWindow | None = None
) -> MetricHistory:
    """See `ports.Browsable.metric_history`."""
    jobs = jobs_of_cells(connection, [(case, flow)])
    machines, newest = _machines(connection, list(jobs), window)
    machine = (window.machine if window else "") or newest
    row, run = metric_values.c, runs.c
    query = (
        select(run.id, run.started_at, run.commit, run.machine, row.job, row.run, row.names, row.versions, row.numbers)
        .join(runs, run.number == row.run)
        .where(row.job.in_(list(jobs)))
    )
    query = _inside(query, _by_job(connection), list(jobs), window, machine, machines)
    rows = connection.execute(query).all() if jobs else []
    if not rows and window and (window.since or window.until):
        return replace(
            metric_history(connection, case, flow, metrics, replace(window, since="", until="")),
            points=(),
            versions={},
            earlier=False,
            machines=machines,
            window=window,
        )
    first = {number: -place for place, number in enumerate(sorted(jobs, key=lambda number: verify_first(jobs[number])))}
    rows = sorted(rows, key=lambda job_row: (job_row.id, first[job_row.job]), reverse=True)
    payloads = _payloads(connection, {number for job_row in rows for number in (job_row.names, job_row.versions)})
    names = {number: _NAMES.decode(payloads[number]) for number in sorted({job_row.names for job_row in rows})}
    every = sorted({name for row_names in names.values() for name in row_names.names})
    metric = next((name for name in metrics if name in every), every[0] if every else "")
    points = _points(connection, rows, names, metric)
    used = {point.versions for point in points}
    return MetricHistory(
        metric,
        tuple(every),
        {name: about for row_names in names.values() for name, about in row_names.stated.items()},
        machine,
        tuple(points),
        {number: _VERSIONS.decode(payloads[number]) for number in sorted(used)},
        window is not None and machines.get(machine, 0) > window.runs,
        machines,
        window,
    )


def _days(window: RunWindow | None) -> list[ColumnElement[bool]]:
    """Ids of runs sort by time, but days are asked for in the time that a run says of itself."""
    conditions: list[ColumnElement[bool]] = []
    if window and window.since:
        conditions.append(runs.c.started_at >= window.since)
    if window and window.until:
        conditions.append(func.substr(runs.c.started_at, 1, 10) <= window.until)
    return conditions


def _by_job(connection: Connection) -> Table:
    """Where it is looked up which runs have a job. The results' index by job is a tenth of the numbers of a job. On PostgreSQL the key of
    the numbers: it is read alone, where results are looked at in their table when they changed, as each does when its run is judged."""
    return results if connection.dialect.name == "sqlite" else metric_values


def _have(by_job: Table, jobs: Sequence[int]) -> ColumnElement[bool]:
    """Of a run. As a set: in a join SQLite may look for the job in each run, which is a page of the file for each."""
    return runs.c.number.in_(select(by_job.c.run).where(by_job.c.job.in_(jobs)))


def _machines(connection: Connection, jobs: Sequence[int], window: RunWindow | None) -> tuple[dict[str, int], str]:
    """All that ever ran these jobs, with the number of their runs in the days of the window, and that of the newest of those runs. By an
    index of these jobs alone, and no number is decoded."""
    condition, run = and_(true(), *_days(window)), runs.c
    query = (
        select(
            run.machine,
            func.count(either((condition, run.number))).label("count"),
            func.max(either((condition, run.id))).label("newest"),
        )
        .where(_have(_by_job(connection), jobs))
        .group_by(run.machine)
    )
    rows = connection.execute(query).all() if jobs else []
    newest = max((row for row in rows if row.newest), key=lambda row: str(row.newest), default=None)
    return {
        row.machine: row[1] for row in sorted(rows, key=lambda entry: str(entry.machine))
    }, newest.machine if newest else ""


def _inside(
    query: Select[Any],
    by_job: Table,
    jobs: Sequence[int],
    window: RunWindow | None,
    machine: str,
    machines: dict[str, int],
) -> Select[Any]:
    """What is asked of a run. Where each machine has no more runs than are asked for, that is the days alone."""
    days, run, row = _days(window), runs.c, metric_values.c
    most = {name: window.runs if name == machine else window.beside for name in machines} if window else {}
    if all(count <= most.get(name, count) for name, count in machines.items()):
        return query.where(*days)
    if by_job is metric_values and len(jobs) == 1 and len(most) == 1:
        # Its newest rows are those of its newest runs: none is looked up twice.
        return query.where(*days).order_by(run.id.desc()).limit(*most.values())
    of_cell = select(run.number).where(_have(by_job, jobs), *days).order_by(run.id.desc())
    # A window over all machines at once takes three times as long.
    each = [of_cell.where(run.machine == name).limit(count) for name, count in most.items()]
    return query.where(row.run.in_(union_all(*(newest.subquery().select() for newest in each))))


def _points(connection: Connection, rows: Sequence[Any], names: dict[int, Names], metric: str) -> list[MetricPoint]:
    """Those that have the metric."""
    places = {number: (name.place(metric), name.spread_place, name.spread) for number, name in names.items()}
    having = [row for row in rows if places[row.names][0] >= 0]
    ends = {number: max(at + 1, behind + spread) for number, (at, behind, spread) in places.items()}
    points = []
    for entry, numbers in zip(having, read_numbers(connection, having, ends), strict=True):
        run_id, started_at, commit, machine, _, _, named, versions, _ = entry  # by name takes twice as long
        at, behind, spread = places[named]
        value: float = struct.unpack_from("<d", numbers, 8 * at)[0]
        around = struct.unpack_from(f"<{spread}d", numbers, 8 * behind) if spread else ()
        points.append(MetricPoint(run_id, started_at, commit, machine, value, versions, around))
    return points


def read_numbers(connection: Connection, rows: Sequence[Any], ends: dict[int, int]) -> list[bytes]:
    """The numbers of each row; `ends` says, for its names, how many are wanted: where those in the index are fewer, the others are read."""
    row = metric_values.c
    short = [entry for entry in rows if len(entry.numbers) < 8 * ends[entry.names]]
    jobs = among(connection, row.job, {entry.job for entry in short})
    query = select(row.job, row.run, row.more_numbers).where(jobs)
    more = {
        (entry.job, entry.run): entry.more_numbers
        for some in chunks(sorted({entry.run for entry in short}))
        for entry in connection.execute(query.where(among(connection, row.run, some))).all()
    }
    return [entry.numbers + (more.get((entry.job, entry.run)) or b"") for entry in rows]


def read_names(connection: Connection, numbers: set[int]) -> dict[int, Names]:
    """What these constants say."""
    return {number: _NAMES.decode(payload) for number, payload in _payloads(connection, numbers).items()}


def _payloads(connection: Connection, numbers: set[int]) -> dict[int, bytes]:
    return {
        row.number: row.payload
        for some in chunks(sorted(numbers))
        for row in connection.execute(
            select(constants.c.number, constants.c.payload).where(among(connection, constants.c.number, some))
        ).all()
    }
