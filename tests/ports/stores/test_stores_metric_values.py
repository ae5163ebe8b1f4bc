"""Metrics as plain numbers: the same as those of the results, whoever wrote them and wherever they were copied to."""

from __future__ import annotations

import math
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace
from sqlalchemy import event, text

from assay.core.result_parts import measurements_of
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.judge.named_metrics import metrics
from assay.pipeline.past_runs.trend import SHORT
from assay.ports.browsing import RunWindow
from assay.reports.changes import ALWAYS
from assay.stats.percentiles import percentile
from assay.stores.copy_history import copy_history
from assay.stores.metric_values import FIRST, SPREAD, Names, encode_metrics
from assay.stores.sql import SqlStore
from assay.testing.builders import MACHINE, make_comparison, make_measurement, make_result, make_run

LATENCY = SHORT["latency"]


def _fill(store: SqlStore) -> None:
    for number in range(1, 5):
        store.open_run(make_run(f"2026010{number}", commit=f"{number}" * 8))
        verify = make_result(
            "a", task_metrics={"odd": math.nan} if number == 4 else {}, versions={"onnx": f"1.{number}"}
        )
        measure = make_result("a", kind="measure", measurements=(make_measurement(median_s=1e-3 * number),))
        store.record(f"2026010{number}", [verify, measure, make_result("b")])


def test_the_metrics_of_a_cell_are_those_of_its_results(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _fill(store)
        past = store.history("a", "onnxruntime")
        wanted = {name for entry in past for name in metrics(entry.result)}
        for name in sorted(wanted):
            found = store.metric_history("a", "onnxruntime", ("nothing", name))
            expected = [(entry.run_id, metrics(entry.result)[name]) for entry in past if name in metrics(entry.result)]
            assert str([(point.run, point.value) for point in found.points]) == str(expected), name
        assert found.names == tuple(sorted(wanted))
        assert {point.run for point in found.points} <= {entry.run_id for entry in past}


def test_what_stands_beside_a_metric(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _fill(store)
        found = store.metric_history("a", "onnxruntime", (LATENCY,))
        newest = found.points[0]
        samples = measurements_of(store.results("20260104")[1])[0].wall_s
        assert newest.spread_ms == tuple(1e3 * (percentile(samples, at) or 0.0) for at in SPREAD)
        assert (newest.run, newest.commit, newest.machine) == ("20260104", "44444444", found.machine)
        errors = store.metric_history("a", "onnxruntime", ("budget_used",)).points
        assert [error.spread_ms for error in errors] == [()] * 4
        of_versions = store.metric_history("a", "onnxruntime", ("budget_used",))
        assert [of_versions.versions[error.versions]["onnx"] for error in errors] == ["1.4", "1.3", "1.2", "1.1"]
        assert store.metric_history("nobody", "onnxruntime", (LATENCY,)).names == ()


def test_a_result_with_other_outputs_is_read_by_its_own_names(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _fill(store)
        store.open_run(make_run("20260105"))
        two = make_result("a", comparisons=(make_comparison("boxes"), make_comparison(budget_used=0.9)))
        store.record("20260105", [replace(two, stage_times=())])
        for name in ("budget_used", "boxes.max_abs", "scores.max_abs", "seconds"):
            points = store.metric_history("a", "onnxruntime", (name,)).points
            assert points[0].value == metrics(two)[name]


def test_the_metrics_of_some_runs(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _fill(store)
        found = store.run_metrics(["20260102", "20260103", "2099"], [("a", "onnxruntime"), ("nobody", "tvm")])
        assert [row.run for row in found] == ["20260102"] * 2 + ["20260103"] * 2
        assert found[1].metrics == metrics(store.results("20260102")[1])


def test_of_some_metrics_none_else_is_read(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _fill(store)
        asked = ["20260102"], [("a", "onnxruntime")]
        for wanted in ({"budget_used"}, {"scores.max_abs", "seconds"}, {"no_such_metric"}):
            for whole, some in zip(store.run_metrics(*asked), store.run_metrics(*asked, wanted), strict=True):
                assert some.metrics == {name: value for name, value in whole.metrics.items() if name in wanted}
                assert some.names == whole.names == tuple(whole.metrics)


def test_what_a_comparison_shows_of_a_verified_result_lies_in_the_index_of_the_key() -> None:
    result = make_result("a", comparisons=(make_comparison("boxes"), make_comparison()))
    wanted: dict[bytes, bytes] = {}
    names = msgspec.msgpack.decode(wanted[encode_metrics(result, wanted).names], type=Names)
    shown = [name for _, name in ALWAYS if name in names.names]
    assert shown == ["budget_used", "max_abs", "artifact.bytes", "stage.load_s", "warnings"]
    assert all(names.place(name) < FIRST for name in shown)


def test_a_copy_has_the_same_metrics_words_and_jobs(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "a.db"))) as source, closing(SqlStore(location)) as target:
        # Its constants, jobs and runs have other numbers.
        target.open_run(make_run("20250101"))
        target.record("20250101", [make_result("z", versions={"other": "1"}), make_result("b")])
        _fill(source)
        copy_history(source, target, lambda *_: None)
        copy_history(source, target, lambda *_: None)
        for metric in (LATENCY, "budget_used", "task.odd"):
            both = [store.metric_history("a", "onnxruntime", (metric,)) for store in (source, target)]
            there, here = (
                [(replace(point, versions=0), of.versions[point.versions]) for point in of.points] for of in both
            )
            assert str(there) == str(here)
        pairs = [store.run_pair("20260101", "20260102") for store in (source, target)]
        assert pairs[0] == pairs[1]


def test_a_result_of_a_hundred_outputs_is_recorded(location: str) -> None:
    # Of values that do not repeat: those that do are compressed, and fit anywhere.
    values, names = random.Random(7), ("budget_used", "max_abs", "max_rel", "rel_l2", "sqnr_db")
    errors = [[values.random() for _ in range(5)] for _ in range(100)]
    wide = make_result(
        "a",
        comparisons=tuple(
            make_comparison(f"output{at}", metrics=dict(zip(names, error, strict=True)))
            for at, error in enumerate(errors)
        ),
    )
    with closing(SqlStore(location)) as store:
        store.open_run(make_run("20260101"))
        store.record("20260101", [make_result("b"), wide])
        assert [result.case for result in store.results("20260101")] == ["b", "a"]
        found = store.metric_history("a", "onnxruntime", ("output99.max_abs",))
    assert len(found.names) > 400
    assert [point.value for point in found.points] == [errors[99][1]]


def test_a_copy_that_is_repeated_leaves_a_finished_run_as_it_is(location: str, tmp_path: Path) -> None:
    whole = RunVerdict(
        (Verdict(VerdictStatus.FAIL, "", make_result("a").job_key),), Verdict(VerdictStatus.FAIL, "1 job fails"), 1
    )
    with closing(SqlStore(str(tmp_path / "a.db"))) as source, closing(SqlStore(location)) as target:
        source.open_run(make_run("20260101"))
        source.record("20260101", [make_result("a")])
        copy_history(source, target, lambda *_: None)
        assert target.runs()[0].status == "running"
        target.close_run("20260101", "complete", whole)
        before = target.runs()
        copy_history(source, target, lambda *_: None)
        assert target.runs() == before
        assert (before[0].status, before[0].word, before[0].failed) == ("complete", "fail", 1)
        source.close_run("20260101", "complete", RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0))
        copy_history(source, target, lambda *_: None)
        assert target.runs() == before


def test_a_copy_that_is_repeated_takes_what_became_of_a_run(location: str, tmp_path: Path) -> None:
    passed = RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0)
    with closing(SqlStore(str(tmp_path / "a.db"))) as source, closing(SqlStore(location)) as target:
        source.open_run(make_run("20260101"))
        for status, word in (("running", ""), ("interrupted", "error"), ("complete", "pass")):
            source.record("20260101", [make_result(status)])
            if word:
                source.close_run("20260101", status, replace(passed, run=Verdict(VerdictStatus(word), "")))
            copy_history(source, target, lambda *_: None)
            assert target.runs() == source.runs()
        assert (target.runs()[0].status, target.runs()[0].word, target.runs()[0].recorded) == ("complete", "pass", 3)


def test_a_window_counts_the_runs_of_one_machine(location: str) -> None:
    cpus = ("rare", "rare", "new", "new", "new", "old", "new")
    kinds = {cpu: replace(MACHINE, cpu=cpu).kind for cpu in cpus}
    with closing(SqlStore(location)) as store:
        for number, cpu in enumerate(cpus, 1):
            run, day = f"2026010{number}", f"2026-01-0{number}T02:00:00+00:00"
            store.open_run(make_run(run, started_at=day, machine=replace(MACHINE, cpu=cpu)))
            measure = make_result("a", kind="measure", measurements=(make_measurement(),))
            # What another cell ran on is nothing to this one.
            store.record(run, [make_result("a"), measure, make_result("b")])
        store.open_run(make_run("20260109", machine=replace(MACHINE, cpu="elsewhere")))
        store.record("20260109", [make_result("b")])

        def read(window: RunWindow) -> tuple[str, str, bool, list[int]]:
            found = store.metric_history("a", "onnxruntime", (LATENCY,), window)
            assert found.machines.keys() == set(kinds.values())
            cpu = next(cpu for cpu, kind in kinds.items() if kind == found.machine)
            counts = [found.machines[kinds[kind_name]] for kind_name in ("rare", "new", "old")]
            return cpu, "".join(point.run[-1] for point in found.points), found.earlier, counts

        assert read(RunWindow(2)) == ("new", "75", True, [2, 4, 1])
        assert read(RunWindow(2, beside=1)) == ("new", "7652", True, [2, 4, 1])
        assert read(RunWindow(2, machine=kinds["rare"])) == ("rare", "21", False, [2, 4, 1])
        assert read(RunWindow(1, machine=kinds["rare"], beside=9)) == ("rare", "765432", True, [2, 4, 1])
        assert read(RunWindow(1, "2026-01-02", "2026-01-06")) == ("old", "6", False, [1, 3, 1])
        assert read(RunWindow(9, "2026-02-01")) == ("new", "", False, [0, 0, 0])


def test_a_window_on_the_only_machine(location: str) -> None:
    kind = MACHINE.kind
    with closing(SqlStore(location)) as store:
        for number in (2, 3, 4, 5, 1):  # the first one is written late
            store.open_run(make_run(f"2026010{number}", started_at=f"2026-01-0{number}T02:00:00+00:00"))
            store.record(f"2026010{number}", [make_result("a"), make_result("b")])

        def read(window: RunWindow) -> tuple[str, bool]:
            found = store.metric_history("a", "onnxruntime", ("budget_used",), window)
            assert found.machines.keys() == {kind}
            return "".join(point.run[-1] for point in found.points), found.earlier

        assert read(RunWindow(2)) == ("54", True)
        assert read(RunWindow(5)) == ("54321", False)
        assert read(RunWindow(1, "2026-01-02", "2026-01-03")) == ("3", True)
        assert read(RunWindow(2, machine="another", beside=3)) == ("543", False)


def test_a_window_begins_with_the_runs_that_have_the_job(tmp_path: Path) -> None:
    """On SQLite that has counted a large history: to look for the job in every run is a page of the file for each."""
    plans: list[str] = []
    location = str(tmp_path / "history.db")
    with closing(SqlStore(location)) as store:
        for number in range(1, 4):
            store.open_run(make_run(f"2026010{number}"))
            store.record(f"2026010{number}", [make_result("a")])
        counted = (
            ("results", "ix_results_job_run", "18000000 1001 1"),
            ("results", "sqlite_autoindex_results_1", "16000000 1001 1"),
            ("runs", "sqlite_autoindex_runs_1", "4000 1"),
            ("metric_values", "metric_values", "10000000 1001 1"),
        )
        with store.engine.begin() as connection:
            connection.execute(text("ANALYZE"))
            connection.execute(text("DELETE FROM sqlite_stat1"))
            for row in counted:
                connection.execute(
                    text("INSERT INTO sqlite_stat1 VALUES (:a, :b, :c)"), dict(zip("abc", row, strict=True))
                )
    with closing(SqlStore(location)) as store:

        @event.listens_for(store.engine, "before_cursor_execute")
        def explain(_connection: object, cursor: Any, statement: str, asked: Any, *_: object) -> None:
            if "metric_values" in statement:
                plans.extend(row[3] for row in cursor.execute(f"EXPLAIN QUERY PLAN {statement}", asked))

        store.metric_history("a", "onnxruntime", (), RunWindow(2))
    assert "SEARCH metric_values USING PRIMARY KEY (job=? AND run=?)" in plans
    assert any("SEARCH results USING COVERING INDEX ix_results_job_run" in plan for plan in plans)
    assert not any("results USING COVERING INDEX sqlite_autoindex" in plan for plan in plans)
