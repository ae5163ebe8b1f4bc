"""The journal on a real disk: kills, torn ends, full disks, two writers."""

from __future__ import annotations

import fcntl
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.errors import StoreError
from assay.stores.journal import Journal, journal_held, read_journal
from assay.testing.builders import make_result, make_run

_WRITER = """
import sys
from pathlib import Path
from assay.stores.journal import Journal, read_journal
from assay.testing.builders import make_result, make_run
path, run = Path(sys.argv[1]), make_run()
_, there = read_journal(path)
with Journal(path, run) as journal:
    for number in range(len(there), 1_000_000):
        journal.append(make_result(f"case-{number}", log="x" * (number * 7919 % 60_000)))
        print(number, flush=True)
"""


def _results(count: int) -> list[Result]:
    return [make_result(f"case-{number}") for number in range(count)]


def _write(path: Path, results: list[Result]) -> None:
    with Journal(path, make_run()) as journal:
        for result in results:
            journal.append(result)


def test_what_was_appended_is_read(tmp_path: Path) -> None:
    path = tmp_path / "journal" / "run.journal"
    results = [make_result("nan", log="\x00 é 漢"), *_results(3), make_result("m", "openvino", "measure")]
    _write(path, results)
    assert read_journal(path) == (make_run(), results)


def test_nothing_there(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "none") == (None, [])
    (tmp_path / "empty").write_bytes(b"")
    assert read_journal(tmp_path / "empty") == (None, [])


def test_the_first_result_of_a_job_stays(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    first, other = make_result("a"), make_result("b")
    _write(path, [first, other, make_result("a", outcome=Outcome.CRASH)])
    assert read_journal(path)[1] == [first, other]


def test_a_journal_cut_anywhere_keeps_its_whole_records_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    results = _results(3)
    ends = []
    with Journal(path, make_run()) as journal:
        ends.append(path.stat().st_size)
        for result in results:
            journal.append(result)
            ends.append(path.stat().st_size)
    whole = path.read_bytes()
    for cut in (0, 1, 15, 16, 20, *(end + off for end in ends for off in (-1, 0, 1, 7, 9)), len(whole)):
        path.write_bytes(whole[:cut])
        kept = max(sum(end <= cut for end in ends) - 1, 0)
        assert read_journal(path)[1] == results[:kept], f"cut at {cut}"
        _write(path, [make_result("after")])
        assert read_journal(path) == (make_run(), [*results[:kept], make_result("after")]), f"cut at {cut}"


def test_a_damaged_record_ends_the_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with Journal(path, make_run()) as journal:
        journal.append(make_result("good"))
        size = path.stat().st_size
        journal.append(make_result("bad"))
    damaged = bytearray(path.read_bytes())
    damaged[size + 30] ^= 1
    path.write_bytes(damaged)
    assert [result.case for result in read_journal(path)[1]] == ["good"]


def test_kill_loses_no_append_that_returned(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    acknowledged = -1
    for round_ in range(8):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        acknowledged = int(writer.stdout.readline())
        time.sleep((round_ * 37 % 20) / 1000)
        os.kill(writer.pid, signal.SIGKILL)
        lines = writer.stdout.read().splitlines(keepends=True)
        writer.stdout.close()
        writer.wait()
        acknowledged = max([acknowledged, *(int(line) for line in lines if line.endswith("\n"))])
        run, results = read_journal(path)
        assert run == make_run()
        assert len(results) > acknowledged
        assert [result.case for result in results] == [f"case-{number}" for number in range(len(results))]
    assert acknowledged >= 7, "one of each writer, at the least"


def test_two_processes_do_not_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with Journal(path, make_run()) as journal:
        journal.append(make_result("a"))
        with pytest.raises(StoreError) as caught:
            Journal(path, make_run())
        assert str(caught.value) == (
            f"run {make_run().id} is being written by another process, which holds {path}: wait for its end, or stop it"
        )
        journal.append(make_result("b"))
    assert len(read_journal(path)[1]) == 2


def test_a_journal_is_held_while_its_writer_lives_and_looking_disturbs_nobody(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    assert not journal_held(path)
    with Journal(path, make_run()):
        assert journal_held(path)
    assert not journal_held(path)
    looking = os.open(path, os.O_RDONLY)
    fcntl.flock(looking, fcntl.LOCK_SH)
    looked = threading.Timer(0.1, os.close, [looking])
    looked.start()
    with Journal(path, make_run()) as journal:
        journal.append(make_result("a"))
    looked.join()
    assert len(read_journal(path)[1]) == 1


def test_the_journal_of_another_run(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    _write(path, _results(1))
    with pytest.raises(
        StoreError, match=f"is the journal of run {make_run().id}, not of other: use a journal of its own"
    ):
        Journal(path, make_run("other"))
    assert read_journal(path) == (make_run(), _results(1))


def test_a_file_that_is_no_journal(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my shopping list")
    for use in (lambda: read_journal(path), lambda: Journal(path, make_run())):
        with pytest.raises(StoreError) as caught:
            use()
        assert str(caught.value) == f"{path} is no journal of assay: move it away, or name another history"
    assert path.read_text() == "my shopping list"


@contextmanager
def _files_no_longer_than(size: int) -> Iterator[None]:
    """Writes beyond fail as on a full disk, after a part of the record was written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with Journal(path, make_run()) as journal:
        journal.append(make_result("before"))
        size = path.stat().st_size
        with _files_no_longer_than(size + 100), pytest.raises(StoreError) as caught:
            journal.append(make_result("too much"))
        assert path.stat().st_size == size
        journal.append(make_result("after"))
    assert str(caught.value) == (
        f"the journal {path} cannot be written (File too large): free some space there, or name another --history; "
        "what was recorded before is kept"
    )
    assert [result.case for result in read_journal(path)[1]] == ["before", "after"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError, match=r"cannot be written \(File exists\)"):
        Journal(tmp_path / "taken" / "run.journal", make_run())
