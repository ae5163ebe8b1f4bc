"""A large history, made up: the results of a few runs, and all other runs copied from them."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace
from sqlalchemy import Connection, text

from assay.core.engine_info import EngineInfo
from assay.core.outcome import Outcome
from assay.core.result import AnyResult
from assay.core.run import Run
from assay.judge.verdicts import judge
from assay.stores.encoded_result import pack
from assay.stores.sql import SqlStore
from assay.stores.statements import chunks
from assay.testing.builders import make_comparison, make_job, make_measurement, make_result, make_run

PATTERNS = 8
"""Runs whose results the others have, too."""
BEGAN = time.monotonic()
LAST = 8
"""Runs at the end that are recorded as others are."""
RUN = text(
    'INSERT INTO runs (number, id, started_at, status, command, "commit", branch, machine) '
    "VALUES (:n, :id, :at, 'complete', 'assay run operators', :commit, :branch, :machine)"
)
PAYLOAD = text("INSERT INTO run_payloads (run, payload, jobs) VALUES (:n, :payload, :jobs)")
NEW = "runs.number BETWEEN :first + 1 AND :last + 1"
"""Run number n, from 0 on, has the row number n + 1, and what it copies is the pattern n modulo their count."""
OLD = "1 + (runs.number - 1) % :patterns"
PATTERN = (
    "CREATE TEMPORARY TABLE pattern AS SELECT results.number, run, results.job, outcome, word, stage, seconds, payload FROM results "
    "JOIN short ON short.job = results.job WHERE run <= :patterns",
    "CREATE TEMPORARY TABLE pattern_codes AS SELECT * FROM result_codes WHERE run <= :patterns",
    "CREATE TEMPORARY TABLE pattern_values AS SELECT * FROM metric_values WHERE run <= :patterns",
    "CREATE INDEX pattern_run ON pattern (run, number)",
    "CREATE INDEX pattern_codes_run ON pattern_codes (run)",
    "CREATE INDEX pattern_values_run ON pattern_values (job, run)",
)
"""What is copied, apart: the tables themselves grow, and have no index while they do."""
NUMBER = "pattern.number + (runs.number - pattern.run) * :cells"
COPIED = f"FROM runs CROSS JOIN pattern WHERE pattern.run = {OLD} AND {NEW} ORDER BY runs.number, pattern.number"
EACH = (
    "INSERT INTO run_summary (run, jobs, recorded, word, passed, failed, other, names) "
    f"SELECT runs.number, jobs, recorded, word, passed, failed, other, names FROM runs JOIN run_summary ON run = {OLD} "
    f"WHERE {NEW}",
    f"INSERT INTO run_cells SELECT runs.number, kind, cells FROM runs JOIN run_cells ON run = {OLD} WHERE {NEW}",
    "INSERT INTO results (number, run, job, outcome, word, stage, seconds) "
    f"SELECT {NUMBER}, runs.number, job, outcome, word, stage, seconds {COPIED}",
    f"INSERT INTO result_payloads SELECT {NUMBER}, payload {COPIED}",
    f"INSERT INTO result_codes SELECT code, runs.number, job, about FROM runs CROSS JOIN pattern_codes WHERE run = {OLD} AND {NEW}",
)
VALUES = {
    "sqlite": (
        "INSERT INTO metric_values SELECT job, runs.number, names, versions, numbers, more_numbers FROM case_state CROSS JOIN runs "
        f"JOIN pattern_values ON pattern_values.job = case_state.number AND pattern_values.run = {OLD} WHERE {NEW}"
    ),
    "postgresql": (
        "INSERT INTO metric_values SELECT job, runs.number, names, versions, numbers, more_numbers FROM runs CROSS JOIN pattern_values "
        f"WHERE run = {OLD} AND {NEW} ORDER BY runs.number"
    ),
}
"""All at once in the order of its key, where the table is one with it; run by run, as they come, where rows lie in the order of time."""
BYTES = {"sqlite": "BLOB", "postgresql": "BYTEA"}
FAST = {
    "sqlite": (
        "PRAGMA journal_mode=OFF",
        "PRAGMA synchronous=OFF",
        "PRAGMA foreign_keys=OFF",
        "PRAGMA cache_size=-1000000",
        "PRAGMA temp_store=MEMORY",
        "PRAGMA threads=2",
        "DROP INDEX ix_results_job_run",
    ),
    "postgresql": (
        "SET session_replication_role = replica",
        "DROP INDEX ix_results_job_run",
        "ALTER TABLE results DROP CONSTRAINT uq_results_run_job",
        "ALTER TABLE metric_values DROP CONSTRAINT pk_metric_values",
        "SET maintenance_work_mem = '1GB'",
        "SET work_mem = '256MB'",
    ),
}
INDEXES = {
    "sqlite": (
        "CREATE INDEX ix_results_job_run ON results (job, run)",
        "PRAGMA analysis_limit=1000",
        "ANALYZE",
        "PRAGMA journal_mode=WAL",
    ),
    "postgresql": (
        "SET session_replication_role = DEFAULT",
        "ALTER TABLE metric_values ADD CONSTRAINT pk_metric_values PRIMARY KEY (job, run) INCLUDE (names, versions, numbers)",
        "CREATE INDEX ix_results_job_run ON results (job, run)",
        "ALTER TABLE results ADD CONSTRAINT uq_results_run_job UNIQUE (run, job)",
        *(
            f"SELECT setval('{name}_number_seq', (SELECT max(number) FROM {name}))"
            for name in ("runs", "results", "case_state", "constants")
        ),
        "VACUUM ANALYZE",
    ),
}
"""Every number is larger than any that the database gave: what is recorded then goes on from there."""
FLOWS = tuple(f"backend{number}-f16" for number in range(10))
BEGIN = datetime(2024, 11, 1, 2, tzinfo=UTC)


def run_id(number: int) -> str:
    return f"{started(number):%Y%m%dT%H%M%S}-{number:06x}"


def started(number: int) -> datetime:
    return BEGIN + timedelta(hours=4 * number)


class Made:
    """The jobs of a run, and the results that each may have: one that is well, and one that is not."""

    def __init__(self, cells: int) -> None:
        cases = [f"operators/op{number // 10}-case{number}" for number in range(cells // len(FLOWS))]
        kinds = {case: "measure" if place % 10 == 0 else "verify" for place, case in enumerate(cases)}
        self.jobs = tuple(make_job(case, flow, kinds[case]) for case in cases for flow in FLOWS)
        self.well = [_well(make_result(job.case.name, job.subject, job.kind)) for job in self.jobs]
        self.wrong = [_wrong(result) for result in self.well]
        self.random = random.Random(7)
        self.red = {place for place in range(len(self.jobs)) if place % 97 == 0}

    def results(self) -> list[AnyResult]:
        """Of the next run: few change."""
        for _ in range(3):
            self.red ^= {self.random.randrange(len(self.jobs))}
        return [self.wrong[place] if place in self.red else result for place, result in enumerate(self.well)]


def _well(any_result: AnyResult) -> AnyResult:
    if any_result.kind == "measure":
        return replace(any_result, measurements=(make_measurement(calls=60),))
    return replace(any_result, comparisons=(make_comparison(),))


def _wrong(any_result: AnyResult) -> AnyResult:
    failed = {"outcome": Outcome.MISMATCH, "detail": "output 'scores' differs"}
    return (
        replace(any_result, **failed)
        if any_result.kind == "measure"
        else replace(any_result, **failed, comparisons=(make_comparison(budget_used=3.0),))
    )


def fill(store: SqlStore, made: Made, runs: int) -> int:
    """The first and the last runs are recorded as a run of Assay does; those between have the short rows and the metrics of one of the
    first, copied by the database in one statement for each table, and short payloads. What the history has already stays. Returns how many
    runs there are."""
    number = min(len(store.runs(10**9)), runs)  # runs that a crowd has written stand behind them
    while number < PATTERNS:
        record(store, made, number)
        number += 1
    if number < runs - LAST:
        bulk(store, made, list(range(number, runs - LAST)))
        number = runs - LAST
    while number < runs:
        record(store, made, number)
        number += 1
    return number


def bulk(store: SqlStore, made: Made, numbers: list[int]) -> None:
    """`numbers` of runs that follow those of the patterns, whose rows have the numbers from 1 on."""
    kind = store.engine.dialect.name
    each = (*EACH, VALUES[kind]) if kind == "postgresql" else EACH
    jobs = pack(made.jobs)
    with store.engine.connect().execution_options(isolation_level="AUTOCOMMIT", assay_read=True) as connection:
        if kind == "sqlite":
            connection.exec_driver_sql("COMMIT")
        _prepare(connection, made)
        for some in (numbers[start : start + 100] for start in range(0, len(numbers), 100)):
            rows = [_run_row(made, number, jobs) for number in some]
            asked = {"first": some[0], "last": some[-1], "patterns": PATTERNS, "cells": len(made.jobs)}
            connection.exec_driver_sql("BEGIN")
            connection.execute(RUN, rows)
            connection.execute(PAYLOAD, rows)
            for statement in each:
                connection.execute(text(statement), asked)
            connection.exec_driver_sql("COMMIT")
            print(f"{(some[-1] + 1) * len(made.jobs):,} results, {time.monotonic() - BEGAN:.0f} s", flush=True)
        if kind == "sqlite":
            connection.exec_driver_sql("BEGIN")
            connection.execute(text(VALUES[kind]), {**asked, "first": numbers[0]})
            connection.exec_driver_sql("COMMIT")
            print(f"metrics, {time.monotonic() - BEGAN:.0f} s", flush=True)
        for statement in INDEXES[kind]:
            connection.exec_driver_sql(statement)
            print(f"{statement[:40]}, {time.monotonic() - BEGAN:.0f} s", flush=True)


def _prepare(connection: Connection, made: Made) -> None:
    """What is copied, and tables without the indexes that are made at the end."""
    kind = connection.dialect.name
    for statement in FAST[kind]:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql("BEGIN")
    key = {"sqlite": "INTEGER", "postgresql": "BIGINT"}[kind]
    connection.exec_driver_sql(f"CREATE TEMPORARY TABLE short (job {key} PRIMARY KEY, payload {BYTES[kind]})")
    known = {row.job_key: row.number for row in connection.execute(text("SELECT job_key, number FROM case_state"))}
    short = [{"job": known[result.job_key], "payload": pack(_short(result))} for result in made.well]
    connection.execute(text("INSERT INTO short VALUES (:job, :payload)"), short)
    for statement in PATTERN:
        connection.execute(text(statement), {"patterns": PATTERNS} if ":patterns" in statement else {})
    connection.exec_driver_sql("COMMIT")
    for name in ("pattern", "pattern_codes", "pattern_values"):
        connection.exec_driver_sql(f"ANALYZE {name}")


def _short(any_result: AnyResult) -> AnyResult:
    """Without what it observed: a page opens few payloads, and ten times as many bytes take hours to write."""
    none = {"measurements": ()} if any_result.kind == "measure" else {"comparisons": (), "facts": EngineInfo()}
    return replace(any_result, stage_times=(), **none)


def _run_row(made: Made, number: int, jobs: bytes) -> dict[str, object]:
    run = run_of(made, number)
    named = {"n": number + 1, "id": run.id, "at": run.started_at, "commit": run.commit, "machine": run.machine.kind}
    return {**named, "branch": run.branch, "payload": pack(replace(run, jobs=())), "jobs": jobs}


def record(store: SqlStore, made: Made, number: int) -> None:
    """As a run of Assay does."""
    run, results = run_of(made, number), made.results()
    store.open_run(run)
    for some in chunks(results):
        store.record(run.id, some)
    planned = [job.key for job in made.jobs]
    store.close_run(run.id, "complete", judge(results, run.policy, planned=planned, today=started(number).date()))


def run_of(made: Made, number: int) -> Run:
    return make_run(
        run_id(number),
        made.jobs,
        started_at=started(number).isoformat(),
        commit=f"{number:08x}" * 5,
        status="complete",
        branch="main" if number % 4 else "next",
    )
