"""Histories of an earlier schema, brought up to date, are what those that are made now are."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, inspect, text

from assay.core.result import AnyResult
from assay.judge.metrics import metrics
from assay.stores.connect import ALONE, connect
from assay.stores.metric_values import FIRST
from assay.stores.schema import MIGRATIONS, _migrate
from assay.stores.sql import SqlStore
from assay.stores.tables import VERSION_TABLE, metadata
from assay.testing.builders import make_comparison, make_result, make_run

RUNS = ("20260101", "20260102")


def _wide() -> AnyResult:
    """With more metrics than a row of an index holds."""
    return make_result(
        "a",
        comparisons=tuple(make_comparison(f"output{at}", metrics={"max_abs": 0.5 + at}) for at in range(FIRST + 50)),
    )


def _made_by_schema_5(engine: Engine, source: SqlStore) -> None:
    """With the rows of `source`, each as that schema had it."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.execution_options(**ALONE).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0005")
        tables = [
            (table, {one["name"] for one in inspect(connection).get_columns(table.name)})
            for table in metadata.sorted_tables
        ]
        with source.reading() as there:
            for table, columns in tables:
                rows = [dict(row) for row in there.execute(table.select()).mappings()]
                for row in rows:
                    if "numbers" in row:
                        row["numbers"] += row["more_numbers"] or b""
                named = sorted(columns)
                names = ", ".join(f'"{name}"' for name in named)
                values = ", ".join(f":{name}" for name in named)
                for row in rows:
                    connection.execute(
                        text(f"INSERT INTO {table.name} ({names}) VALUES ({values})"),
                        {name: row[name] for name in named},
                    )


def test_a_history_of_schema_5_keeps_all_metrics(location: str, tmp_path: Path) -> None:
    wide, narrow = _wide(), make_result("b")
    assert len(metrics(wide)) > FIRST > len(metrics(narrow))
    with closing(SqlStore(str(tmp_path / "now.db"))) as source:
        for run in RUNS:
            source.open_run(make_run(run))
            source.record(run, [wide, narrow])
        engine, _ = connect(location, busy_s=5.0)
        _made_by_schema_5(engine, source)
        engine.dispose()
    with closing(SqlStore(location)) as store:
        found = store.run_metrics(RUNS, [("a", "onnxruntime"), ("b", "onnxruntime")])
        assert [one.metrics for one in found if one.case == "a"] == [metrics(wide)] * 2
        assert [one.metrics for one in found if one.case == "b"] == [metrics(narrow)] * 2
        last = list(metrics(wide))[-1]
        assert [one.value for one in store.metric_history("a", "onnxruntime", (last,)).points] == [
            metrics(wide)[last]
        ] * 2


def test_on_postgresql_what_is_migrated_has_the_indexes_and_settings_of_what_is_made(postgresql: str) -> None:
    asked = (
        "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname",
        "SELECT relname, reloptions FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname",
    )
    engine, _ = connect(postgresql, busy_s=5.0)
    SqlStore(postgresql).close()
    found = []
    for again in (False, True):
        with engine.execution_options(**ALONE).begin() as connection:
            if again:
                metadata.drop_all(connection)
                connection.execute(text(f"DROP TABLE {VERSION_TABLE}"))
                _migrate(connection)
            rows = [[tuple(row) for row in connection.execute(text(one))] for one in asked]
            found.append([[row for row in some if row[0] != VERSION_TABLE] for some in rows])
    engine.dispose()
    assert found[0] == found[1]
    assert any("INCLUDE" in row[2] for row in found[0][0])
