"""A server that goes away in the middle, and a copy that is cut off: nothing is lost, nothing is there twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from assay.commands.composition import open_services
from assay.commands.history_copy import copy_from
from assay.core.result import Result
from assay.errors import RunNotFound, StoreUnreachable, UsageError
from assay.pipeline import open_run as opening
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import open_run
from assay.pipeline.resume import resume
from assay.stores import connect
from assay.stores.copy_history import copy_history
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from assay.testing.standard_run import standard_run
from cut_connection import Cut

CASES = [f"case-{number}" for number in range(6)]
RUN = make_run(jobs=tuple(make_job(case) for case in CASES))


@pytest.fixture
def cut(postgresql: str) -> Iterator[Cut]:
    with Cut(postgresql) as between:
        yield between


@pytest.mark.parametrize("bytes_sent", [1_000, 20_000, 60_000])
def test_a_connection_that_is_lost_in_the_middle_is_made_again(cut: Cut, bytes_sent: int) -> None:
    many = [make_result(f"case-{number}") for number in range(100)]
    with closing(SqlStore(cut.address)) as store:
        store.open_run(RUN)
        cut.after_bytes(bytes_sent, once=True)
        store.record(RUN.id, many)
        assert store.results(RUN.id) == many
        assert store.runs()[0].recorded == 100


def test_a_connection_that_was_closed_while_nobody_used_it_is_made_again(
    cut: Cut, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqlStore(cut.address)) as store:
        store.open_run(RUN)
        for seconds, lost in ((0.0, False), (3600.0, True)):
            monkeypatch.setattr(connect, "FRESH_S", seconds)
            assert store.runs()
            cut.off()
            cut.on()
            if lost:  # who reads meanwhile is told, and the next one is answered
                with pytest.raises(StoreUnreachable):
                    store.runs()
            assert store.runs()[0].id == RUN.id


def test_a_run_goes_on_while_no_server_answers(cut: Cut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("BATCH_S", "AGAIN_S"):
        monkeypatch.setattr(opening, name, 0.0)
    with open_services(cut.address) as services, open_run(RUN, services) as opened:
        opened.add(make_result(CASES[0]))
        cut.off()
        opened.add(make_result(CASES[1]))
        opened.add(make_result(CASES[2]))
        cut.on()
        for case in CASES[3:]:
            opened.add(make_result(case))
    with closing(SqlStore(cut.server)) as store:
        assert sorted(result.case for result in store.results(RUN.id)) == CASES
        assert store.runs()[0].recorded == len(CASES)
        assert store.run(RUN.id).status == "complete"


def _run_and_lose_the_server(cut: Cut, services: Services) -> None:
    with open_run(RUN, services) as opened:
        opened.add(make_result(CASES[0]))
        cut.off()
        for case in CASES[1:]:
            opened.add(make_result(case))


def test_what_could_not_be_sent_is_in_the_journal(cut: Cut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("BATCH_S", "AGAIN_S", "PATIENCE_S"):
        monkeypatch.setattr(opening, name, 0.0)
    text = rf"every result of the run is in .*journal: `assay resume {RUN.id} --history \S+` sends them"
    with open_services(cut.address) as services, pytest.raises(StoreUnreachable, match=text):
        _run_and_lose_the_server(cut, services)
    cut.on()
    with open_services(cut.address) as services:
        checked = resume(RUN.id, services)
    assert sorted(result.case for result in checked.results) == CASES
    with closing(SqlStore(cut.server)) as store:
        assert sorted(result.case for result in store.results(RUN.id)) == CASES
        assert store.run(RUN.id).status == "complete"


def _fill(store: SqlStore) -> None:
    run, results, judgement = standard_run()
    for number in range(3):
        later_run = make_run(f"2026010{number}", jobs=run.jobs)
        store.open_run(later_run)
        store.record(later_run.id, results)
        if number != 1:
            store.close_run(later_run.id, "complete", judgement)


def _all(store: SqlStore) -> tuple[object, ...]:
    results: dict[str, list[Result]] = {line.id: store.results(line.id) for line in store.runs()}
    return store.runs(), store.states(), results, store.run("last")


def test_a_copy_is_the_same_history_and_goes_on_where_it_was_cut_off(
    cut: Cut, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.stores.copy_history._ROWS", 4)
    with closing(SqlStore(str(tmp_path / "a" / "history.db"))) as store:
        _fill(store)
        whole = _all(store)
    count = len(store.results("last"))
    source, target = SqlStore(str(tmp_path / "a" / "history.db")), SqlStore(cut.address)
    with closing(source), closing(target), pytest.raises(StoreUnreachable):
        copy_history(source, target, lambda *_: cut.after_bytes(34_000))
    cut.on()
    runs, new = copy_from(str(tmp_path / "a"), cut.address)
    assert runs == 3
    assert count < new < 2 * count
    with closing(SqlStore(cut.server)) as store:
        assert _all(store) == whole
    assert copy_from(cut.server, str(tmp_path / "b")) == (3, 3 * count)
    with closing(SqlStore(str(tmp_path / "b" / "history.db"))) as store:
        assert _all(store) == whole
    assert copy_from(cut.server, str(tmp_path / "b")) == (3, 0)


def test_a_copy_of_nothing_or_to_itself(tmp_path: Path) -> None:
    with pytest.raises(RunNotFound, match="there is no history in"):
        copy_from(str(tmp_path), str(tmp_path / "b"))
    with pytest.raises(UsageError, match="are the same history"):
        copy_from(str(tmp_path), f"{tmp_path}/x/..//")
