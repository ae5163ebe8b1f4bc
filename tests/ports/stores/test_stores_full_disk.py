"""A disk that is full under PostgreSQL: what the history could not take is in the journal, nothing is lost and nothing is there twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import func, select

from assay.commands.composition import open_services
from assay.errors import StoreError
from assay.pipeline import open_run as opening
from assay.pipeline.open_run import open_run
from assay.pipeline.resume import resume
from assay.stores.history_tables import metric_values, result_payloads, results
from assay.stores.journal import read_journal
from assay.stores.sql import SqlStore
from assay.testing.builders import make_job, make_result, make_run
from databases import server_user

SIZE = 32 * 1024 * 1024
COUNT = 300
SENT = 100
"""Results that are recorded before the disk is full."""
RUN = make_run(jobs=tuple(make_job(f"case-{number}") for number in range(COUNT)))
ANSWERS = [make_result(f"case-{number}") for number in range(COUNT)]


@dataclass(frozen=True)
class SmallDisk:
    """A file system of its own, on which the database lies."""

    folder: Path

    def fill(self) -> None:
        with (self.folder / "filler").open("wb", buffering=0) as file:
            block = bytes(4096)
            try:
                while True:
                    file.write(block)
            except OSError:
                return

    def free(self) -> None:
        (self.folder / "filler").unlink()


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    """Skips where no file system can be mounted, which root alone may do."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk is a tmpfs, which root alone can mount")
    folder = Path(tempfile.mkdtemp(prefix="assay-small-disk-"))
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], capture_output=True, text=True
        )
        if mounted.returncode != 0:
            pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
        try:
            yield SmallDisk(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    finally:
        shutil.rmtree(folder)


@pytest.fixture
def history(postgresql_server: str, small_disk: SmallDisk) -> Iterator[str]:
    """The address of a database on the small disk. The server's log of changes lies elsewhere, so that the server goes on."""
    data = small_disk.folder / "data"
    data.mkdir()
    shutil.chown(data, server_user())
    small_disk.folder.chmod(0o755)
    name = f"small_{uuid4().hex}"
    with psycopg.connect(f"{postgresql_server.replace('+psycopg', '')}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE {name} LOCATION '{data}'".encode())
        connection.execute(f"CREATE DATABASE {name} TABLESPACE {name}".encode())
        try:
            yield f"{postgresql_server}/{name}"
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
            connection.execute(f"DROP TABLESPACE {name}".encode())


def _rows(store: SqlStore) -> set[int]:
    with store.reading() as connection:
        tables = (results, result_payloads, metric_values)
        return {connection.scalar(select(func.count()).select_from(table)) or 0 for table in tables}


def _run_until_the_disk_is_full(address: str, disk: SmallDisk) -> None:
    """The last results wait for the end of the run, as those of its last half second do."""
    with open_services(address) as services, open_run(RUN, services) as opened:
        for result in ANSWERS[:SENT]:
            opened.add(result)
        opened.flush()
        disk.fill()
        for result in ANSWERS[SENT:]:
            opened.add(result)


def test_a_disk_that_becomes_full_loses_nothing_and_doubles_nothing(
    history: str, small_disk: SmallDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(opening, "BATCH_S", 3600.0)
    with pytest.raises(StoreError, match=r"the disk is full: free some space and resume the run"):
        _run_until_the_disk_is_full(history, small_disk)
    with open_services(history) as services:
        assert len(read_journal(services.journal_path(RUN.id))[1]) == COUNT
        with pytest.raises(StoreError, match="the disk is full"):
            resume(RUN.id, services)
        assert len(read_journal(services.journal_path(RUN.id))[1]) == COUNT
    small_disk.free()  # who connects while it is full may be refused
    with closing(SqlStore(history)) as store:
        assert _rows(store) == {SENT}
    with open_services(history) as services:
        checked = resume(RUN.id, services)
        assert not services.journal_path(RUN.id).exists()
    assert len(checked.results) == COUNT
    with closing(SqlStore(history)) as store:
        assert sorted(result.case for result in store.results(RUN.id)) == sorted(result.case for result in ANSWERS)
        assert _rows(store) == {COUNT}
        assert (store.runs()[0].recorded, store.run(RUN.id).status) == (COUNT, "complete")
        assert {state.streak for state in store.states()} == {1}, "a result counted twice"
