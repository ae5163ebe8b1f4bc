"""Runs that are written after newer ones: what is so now, is what the newest run says."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.errors import OtherRun, RunNotFound
from assay.stores import run_pairs, sql_browsing
from assay.stores.copy_history import copy_history
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run

OK, CRASH = Outcome.OK, Outcome.CRASH


def _run(store: SqlStore, run_id: str, *results: Result) -> None:
    day = f"{run_id[:4]}-{run_id[4:6]}-{run_id[6:8]}T00:00:00+00:00"
    store.open_run(make_run(run_id, started_at=day))
    store.record(run_id, results)
    store.close_run(run_id, "complete", RunVerdict((), Verdict(VerdictStatus.PASS, ""), 0))


def test_a_copied_old_run_is_not_the_present(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        _run(store, "20260109", make_result("a"), make_result("b", outcome=CRASH))
        _run(store, "20260110", make_result("a"), make_result("b"))
        for number in range(1, 4):
            _run(old, f"2026010{number}", make_result("a", outcome=CRASH), make_result("b"), make_result("gone"))
        copy_history(old, store, lambda *_: None)
        states = {state.case: state for state in store.states()}
        assert (states["a"].run, states["a"].outcome, states["a"].streak) == ("20260110", "ok", 2)
        assert (states["gone"].run, states["gone"].streak) == ("20260103", 3)
        assert [run.run for run in store.cell_runs("a", "onnxruntime", 2)] == ["20260110", "20260109"]
        assert [run.run for run in store.cell_runs("a", "onnxruntime", 9)] == [
            *("20260110", "20260109", "20260103", "20260102", "20260101")
        ]
        assert store.cell("", "a", "onnxruntime")[0].id == "20260110"


def test_what_a_copied_old_run_leaves_of_the_standing(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        for number, outcome in ((5, OK), (6, CRASH), (7, OK)):
            _run(store, f"2026010{number}", make_result("a", outcome=outcome), make_result("new"))
        for number, outcome in ((1, OK), (2, CRASH), (3, OK), (4, OK)):
            results = [make_result("late", outcome=outcome), make_result("red", outcome=CRASH)]
            _run(old, f"2026010{number}", *results)
        copy_history(old, store, lambda *_: None)
        standing = store.standing(days=3.0, looked_at=3, limit=9)
        assert (standing.recent, [cell.case for cell in standing.red]) == ("20260105", ["red"])
        assert [cell.case for cell in standing.newly_green] == ["a"]
        assert [(cell.case, cell.turns, cell.results) for cell in standing.turning] == [("a", 2, 3)]
        whole = store.standing(days=300.0, looked_at=30, limit=9)
        assert {(cell.case, cell.turns, cell.results) for cell in whole.turning} == {("a", 2, 3), ("late", 2, 4)}


def test_the_past_that_a_copy_brings_makes_a_job_newly_green(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        _run(store, "20260109", make_result("a"))
        _run(old, "20260101", make_result("a", outcome=CRASH))
        assert not store.standing(days=3.0, looked_at=3, limit=9).newly_green
        copy_history(old, store, lambda *_: None)
        assert [cell.case for cell in store.standing(days=3.0, looked_at=3, limit=9).newly_green] == ["a"]


def test_an_earlier_run_that_was_ok_makes_nothing_newly_green(location: str) -> None:
    with closing(SqlStore(location)) as store:
        store.open_run(make_run("20260108"))
        _run(store, "20260109", make_result("a"), make_result("b"))
        store.record("20260108", [make_result("a"), make_result("b", outcome=CRASH)])  # it began first, and ends last
        assert [state.case for state in store.standing(days=3.0, looked_at=3, limit=9).newly_green] == ["b"]


def test_the_run_before_is_the_newest_that_has_any_of_the_jobs(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_pairs, "FIRST_LOOK", 1)
    with closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("a"))
        _run(store, "20260102", make_result("b"))
        _run(store, "20260103", make_result("c"))
        _run(store, "20260104", make_result("a"), make_result("b"))
        assert store.previous_run("20260104") == "20260102"
        assert store.previous_run("20260103") == ""
        assert store.previous_run("20260102") == ""
        with pytest.raises(RunNotFound, match='no run "20260105"'):
            store.previous_run("20260105")


def test_a_pair_has_all_jobs_of_a_cell_that_changed(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that did not change, in one run or in both; a cell that is the same in both is one that `same_cells` has."""
    measured = make_result("a", kind="measure")
    with closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("a"), measured, make_result("b"), make_result("gone"))
        _run(store, "20260102", make_result("a", outcome=CRASH), measured, make_result("b"), make_result("new"))
        asked: list[str] = []
        event.listen(store.engine, "before_cursor_execute", lambda *seen: asked.append(seen[2]))
        pair = store.run_pair("20260101", "20260102")
        assert sum("SELECT" in statement for statement in asked) <= 5, (
            "each question of a page is a way to the server and back"
        )
        stand = {
            (job.case, job.job_key == measured.job_key): tuple(side and side[0] for side in (job.old, job.new))
            for job in pair.changed
        }
        assert stand == {
            ("a", False): ("ok", "crash"),
            ("a", True): ("ok", "ok"),
            ("gone", False): ("ok", None),
            ("new", False): (None, "ok"),
        }
        assert (pair.cells, pair.common) == (4, 3)
        changed = {(job.case, job.flow) for job in pair.changed}
        for first_look in (50, -6):  # of so few jobs that the cell is not among them
            monkeypatch.setattr(run_pairs, "FIRST_LOOK", first_look)
            assert [job.case for job in store.same_cells("20260101", "20260102", changed, 0, 1)] == ["b"]
        assert not store.same_cells("20260101", "20260102", changed, 1, 1)


def test_two_runs_with_nothing_in_common_are_not_read(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("a"))
        _run(store, "20260102", make_result("b"))
        _run(store, "20260103", make_result("a"), make_result("b"))
        apart = store.run_pair("20260101", "20260102")
        assert (apart.changed, apart.cells, apart.common) == ((), 2, 0)
        some = store.run_pair("20260101", "20260103")
        assert ([cell.case for cell in some.changed], some.cells, some.common) == (["b"], 2, 1)
        store.record("20260103", [make_result("c"), make_result("c", kind="measure")])  # it goes on
        assert store.run_pair("20260101", "20260103").cells == 3
        _run(store, "20260103")
        asked: list[str] = []
        event.listen(store.engine, "before_cursor_execute", lambda *seen: asked.append(seen[2]))
        assert store.run_pair("20260101", "20260103").cells == 3
        assert not any("SELECT DISTINCT" in statement and "count" in statement for statement in asked), "it was kept"


def test_a_run_beside_itself_has_all_in_common(location: str) -> None:
    with closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("a"), make_result("b", outcome=CRASH))
        pair = store.run_pair("20260101", "20260101")
        assert (pair.changed, pair.cells, pair.common) == ((), 2, 2)
        same = store.same_cells("20260101", "20260101", (), 0, 9)
        assert [(job.case, job.old == job.new) for job in same] == [("a", True), ("b", True)]


def test_a_copy_reads_no_payload_that_the_target_has(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "source.db"))) as source, closing(SqlStore(location)) as target:
        cases = ["first", *(f"case{number}" for number in range(5)), "last"]
        _run(source, "20260101", *map(make_result, cases))
        _run(target, "20260101", *map(make_result, cases[1:-1]))
        asked: list[tuple[str, Any]] = []
        event.listen(source.engine, "before_cursor_execute", lambda *seen: asked.append((seen[2], seen[3])))
        assert copy_history(source, target, lambda *_: None) == (1, 2)
        of_payloads = [query for query in asked if "FROM result_payloads" in query[0]]
        with source.reading() as connection:
            assert [len(connection.exec_driver_sql(*payload).all()) for payload in of_payloads] == [2]
        assert {result.case for result in target.results("20260101")} == set(cases)


def test_another_run_with_the_same_id_is_told_and_all_others_are_copied(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("mine"))
        old.open_run(make_run("20260101", started_at="2026-01-01T00:00:09+00:00", commit="f" * 40))
        old.record("20260101", [make_result("theirs")])
        _run(old, "20260102", make_result("theirs"))
        for _ in range(2):
            with pytest.raises(
                OtherRun, match=r"but for a run: another run has the id 20260101 .*2026-01-01T00:00:00"
            ) as told:
                copy_history(old, store, lambda *_: None)
            assert str(told.value).endswith("; keep the history that is copied: the run can be read there")
        assert [result.case for result in store.results("20260101")] == ["mine"]
        assert [result.case for result in store.results("20260102")] == ["theirs"]


def test_a_run_of_another_command_is_another_run(location: str, tmp_path: Path) -> None:
    """The id, the second, the commit and the machine are the same."""
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        for each, command in ((store, "assay run mine"), (old, "assay run theirs")):
            each.open_run(make_run("20260101", command=command))
            each.record("20260101", [make_result(command.split()[-1])])
        with pytest.raises(OtherRun, match=r"another run has the id 20260101 .*`assay run mine`"):
            copy_history(old, store, lambda *_: None)
        assert [result.case for result in store.results("20260101")] == ["mine"]


def test_runs_that_were_not_copied_are_counted(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        for run in ("20260101", "20260102", "20260103"):
            store.open_run(make_run(run, command="assay run mine"))
            old.open_run(make_run(run, command="assay run theirs"))
        _run(old, "20260104", make_result("theirs"))
        with pytest.raises(OtherRun, match=r"but for 3 runs, of which the first: another run has the id 20260101 "):
            copy_history(old, store, lambda *_: None)
        assert [result.case for result in store.results("20260104")] == ["theirs"]


def test_a_run_without_a_command_is_told_without_one(location: str, tmp_path: Path) -> None:
    with closing(SqlStore(str(tmp_path / "old.db"))) as old, closing(SqlStore(location)) as store:
        store.open_run(make_run("20260101", command=""))
        old.open_run(make_run("20260101", command="assay run theirs"))
        with pytest.raises(OtherRun, match=r"another run has the id 20260101 there \([^`]*\): nothing") as caught:
            copy_history(old, store, lambda *_: None)
        assert "``" not in str(caught.value)


@pytest.mark.parametrize(("seconds", "asked_again"), [(1000.0, False), (0.0, True)])
def test_the_number_of_a_run_is_known_for_a_second(
    location: str, monkeypatch: pytest.MonkeyPatch, seconds: float, asked_again: bool
) -> None:
    monkeypatch.setattr(sql_browsing, "FRESH_S", seconds)
    with closing(SqlStore(location)) as store:
        _run(store, "20260101", make_result("a"))
        store.run_facts("20260101")
        asked: list[str] = []
        event.listen(store.engine, "before_cursor_execute", lambda *seen: asked.append(seen[2]))
        assert [result.case for result in store.results("20260101", [make_result("a").job_key])] == ["a"]
        assert any("FROM runs" in statement for statement in asked) is asked_again
        with pytest.raises(RunNotFound):
            store.results("20260102")
