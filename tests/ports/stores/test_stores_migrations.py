"""Histories of an earlier schema, brought up to date, are what those that are made now are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from msgspec import msgpack
from msgspec.structs import replace
from sqlalchemy import Connection, inspect, make_url, text

from assay.core.result import AnyResult
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import StoreError
from assay.judge.named_metrics import metrics
from assay.stores.connect import ALONE, connect
from assay.stores.encoded_result import unpack
from assay.stores.history_tables import VERSION_TABLE, metadata
from assay.stores.metric_values import FIRST, Names
from assay.stores.run_names import RunNames
from assay.stores.schema import MIGRATIONS, _migrate
from assay.stores.sql import SqlStore
from assay.testing.builders import make_comparison, make_measurement, make_result, make_run

RUNS = ("20260101", "20260102")
NAMES: msgpack.Decoder[RunNames] = msgpack.Decoder(RunNames)
Rows = list[dict[str, Any]]


def _results() -> dict[str, AnyResult]:
    """By case: with few metrics, with samples, and with more metrics than a row of PostgreSQL's index holds."""
    outputs = tuple(make_comparison(f"output{at}", metrics={"max_abs": 0.5 + at}) for at in range(300))
    return {
        "a": make_result("a", comparisons=outputs),
        "b": make_result("b"),
        "c": make_result("c", kind="measure", measurements=(make_measurement(),)),
    }


def _as_schema_5(tables: dict[str, Rows]) -> None:
    """All numbers of a result in one value, those without names at the end."""
    numbers = {row["names"] for row in tables["metric_values"]}
    names = {row["number"]: row for row in tables["constants"] if row["number"] in numbers}
    spreads = {}
    for number, row in names.items():
        patterns = msgpack.decode(row["payload"], type=Names)
        assert patterns.spread_first
        spreads[number] = 8 * patterns.spread
        row["payload"] = msgpack.encode(replace(patterns, spread_first=False))
    for row in tables["metric_values"]:
        whole, spread = row["numbers"] + (row.pop("more_numbers") or b""), spreads[row["names"]]
        row["numbers"] = whole[spread:] + whole[:spread]
    for row in tables["run_summary"]:
        del row["names"]
    for row in tables["case_state"]:
        del row["was_not_ok"]
    for table in ("state_counts", "state_changes", "run_cells"):
        del tables[table]


def _make(connection: Connection, version: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def _rows(source: SqlStore) -> Iterator[tuple[str, Rows]]:
    with source.reading() as connection:
        for table in metadata.sorted_tables:
            yield table.name, [dict(row) for row in connection.execute(table.select()).mappings()]


def test_a_history_of_schema_5_keeps_all_metrics(location: str, tmp_path: Path) -> None:
    results = _results()
    with closing(SqlStore(str(tmp_path / "now.db"))) as source:
        for run in RUNS:
            source.open_run(make_run(run))
            source.record(run, list(results.values()))
        tables = dict(_rows(source))
        expected = source.metric_history("c", "onnxruntime", ("latency.median_ms",)).points
    _as_schema_5(tables)
    engine, _ = connect(location, busy_s=5.0)
    with engine.execution_options(**ALONE).begin() as connection:
        _make(connection, "0005")
        for table, rows in tables.items():
            for row in rows:
                names, values = (
                    ", ".join(f"{sign}{name}{end}" for name in row) for sign, end in (('"', '"'), (":", ""))
                )
                connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)
        assert "more_numbers" not in {column["name"] for column in inspect(connection).get_columns("metric_values")}
    engine.dispose()
    with closing(SqlStore(location)) as store:
        with store.reading() as connection:
            kept = connection.scalars(text("SELECT names FROM run_summary")).all()
        assert [sorted(name for name, _ in unpack(names, NAMES).case) for names in kept] == [["a", "b", "c"]] * 2
        for case, result in results.items():
            whole = metrics(result)
            assert [metric.metrics for metric in store.run_metrics(RUNS, [(case, "onnxruntime")])] == [whole] * 2
            for name in (next(iter(whole)), list(whole)[-1]):
                points = store.metric_history(case, "onnxruntime", (name,)).points
                assert [point.value for point in points] == [whole[name]] * 2
        assert len(metrics(results["a"])) > 250 > FIRST
        assert expected[0].spread_ms
        assert store.metric_history("c", "onnxruntime", ("latency.median_ms",)).points == expected


def test_on_postgresql_what_is_migrated_has_the_indexes_and_settings_of_what_is_made(postgresql: str) -> None:
    asked = (
        "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
        "SELECT tgname, pg_get_triggerdef(pg_trigger.oid), prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid "
        "WHERE NOT tgisinternal ORDER BY tgname",
        "SELECT relname, reloptions FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname",
    )
    engine, _ = connect(postgresql, busy_s=5.0)
    SqlStore(postgresql).close()
    dumps = []
    for again in (False, True):
        with engine.execution_options(**ALONE).begin() as connection:
            if again:
                metadata.drop_all(connection)
                for name in ("added", "changed"):
                    connection.execute(text(f"DROP FUNCTION assay_count_{name}"))
                connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
                _migrate(connection)
            rows = [[tuple(row) for row in connection.execute(text(query))] for query in asked]
            dumps.append([[row for row in some if row[0] != VERSION_TABLE] for some in rows])
    engine.dispose()
    assert dumps[0] == dumps[1]
    assert any("INCLUDE" in row[2] for row in dumps[0][0])


@pytest.mark.parametrize("version", ["0007", "0008"])
def test_on_postgresql_those_who_were_granted_before_read_and_record(postgresql: str, version: str) -> None:
    reader, writer = (f'{name} "{uuid4().hex[:8]}"' for name in ("Reader", "writer"))
    as_role = {role: make_url(postgresql).set(username=role).render_as_string() for role in (reader, writer)}
    engine, _ = connect(postgresql, busy_s=5.0)
    quote = engine.dialect.identifier_preparer.quote_identifier
    with engine.execution_options(**ALONE).begin() as connection:
        _make(connection, version)
        for role in (reader, writer):
            connection.execute(text(f"CREATE ROLE {quote(role)} LOGIN"))
            connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {quote(role)}"))
        connection.execute(text(f"GRANT INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO {quote(writer)}"))
        connection.execute(text(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {quote(writer)}"))
    engine.dispose()
    SqlStore(postgresql).close()
    passed = RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0)
    with closing(SqlStore(as_role[writer])) as store:
        for run in RUNS:
            store.open_run(make_run(run))
            store.record(run, [make_result("a")])
            store.close_run(run, "complete", passed)
            store.close_run(run, "complete", passed)
    with closing(SqlStore(as_role[reader])) as store:
        counts = store.standing(days=3.0, looked_at=3, limit=9).counts
        assert [(count.flow, count.jobs) for count in counts] == [("onnxruntime", 1)]
        with pytest.raises(StoreError, match="does not let its user do that"):
            store.write(lambda connection: connection.execute(text("DELETE FROM state_changes")))
