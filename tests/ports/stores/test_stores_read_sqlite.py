"""A history of somebody else, in a folder where the reader may write nothing: what is read of it while its owner writes."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text

from assay.errors import StoreError
from assay.stores.sql import SqlStore
from assay.testing.builders import make_result, make_run


@contextmanager
def _as_a_reader(folder: Path) -> Iterator[None]:
    """Root may write anywhere: for a while, be nobody."""
    mine = os.geteuid()
    folder.chmod(0o555)
    if mine == 0:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if mine == 0:
            os.setresuid(0, 0, 0)
        folder.chmod(0o755)


@pytest.fixture
def path() -> Iterator[Path]:
    """Below a folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        _write(Path(name) / "history.db", 1)
        yield Path(name) / "history.db"


def _write(path: Path, number: int) -> None:
    with closing(SqlStore(str(path))) as store:
        store.open_run(make_run(f"2026010{number}"))
        store.record(f"2026010{number}", [make_result(f"case-{index}") for index in range(300)])


def _seen(store: SqlStore) -> list[int]:
    return [run.recorded for run in store.runs()]


def test_what_is_written_later_is_seen_by_who_has_it_open(path: Path) -> None:
    with _as_a_reader(path.parent):
        store = SqlStore(str(path), read_only=True)
        assert _seen(store) == [300]
    _write(path, 2)
    with _as_a_reader(path.parent):
        assert _seen(store) == [300] * 2
    with closing(SqlStore(str(path))) as writer:
        writer.open_run(make_run("20260103"))
        with _as_a_reader(path.parent):
            assert _seen(store) == [0, 300, 300], "while its owner has it open"
    with _as_a_reader(path.parent), closing(store):
        assert _seen(store) == [0, 300, 300]


@pytest.mark.parametrize("table", ["results", "no_such_table"])
def test_what_is_read_while_it_is_written_is_not_believed(path: Path, table: str) -> None:
    """Nor are errors, which may be of pages of two moments."""
    with _as_a_reader(path.parent):
        store = SqlStore(str(path), read_only=True)
    said = pytest.raises(StoreError, match=r"history\.db was written to while it was read: read it again$")
    with closing(store), said, store.reading() as connection:
        _write(path, 2)
        connection.execute(text(f"SELECT count(*) FROM {table}"))


def test_a_log_that_a_reader_cannot_read_is_a_sentence_and_not_the_state_before(path: Path, tmp_path: Path) -> None:
    with closing(SqlStore(str(path))) as writer, tempfile.TemporaryDirectory() as name:
        writer.open_run(make_run("20260102"))
        os.chmod(name, 0o755)
        copy = Path(name) / "history.db"
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
        with _as_a_reader(copy.parent), pytest.raises(StoreError) as caught:
            SqlStore(str(copy), read_only=True)
        assert str(caught.value) == (
            f"the newest of {copy} lies in history.db-wal beside it, which only who may write into that folder can read: call `assay runs` "
            "with it once as one who may"
        )
        SqlStore(str(copy)).close()
        with _as_a_reader(copy.parent), closing(SqlStore(str(copy), read_only=True)) as store:
            assert _seen(store) == [0, 300]
