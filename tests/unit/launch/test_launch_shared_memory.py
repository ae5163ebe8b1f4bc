"""What of the memory with a name is a worker's, and what is another's that it merely uses."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.launch import shared_memory

_FOLDER = Path(shared_memory.FOLDER)
pytestmark = pytest.mark.skipif(not os.access(_FOLDER, os.W_OK), reason="this system has no /dev/shm")
_SIZE = mmap.PAGESIZE


@pytest.fixture
def path() -> Iterator[Path]:
    segment = _FOLDER / f"assay-test-{uuid.uuid4().hex}"
    segment.write_bytes(bytes(_SIZE))
    yield segment
    segment.unlink(missing_ok=True)


def _held(before: frozenset[int] = frozenset()) -> set[str]:
    return shared_memory.held_files([os.getpid()], before)


def test_what_it_may_write_to_is_its_own(path: Path) -> None:
    with path.open("r+b") as file:
        assert str(path) in _held()
        memory = mmap.mmap(file.fileno(), _SIZE)
    assert str(path) in _held()  # mapped, and closed
    memory.close()
    assert str(path) not in _held()


def test_what_was_there_before_is_anothers(path: Path) -> None:
    """A file of the user, to which it writes."""
    before = shared_memory.file_numbers()
    with path.open("r+b") as file:
        file.write(b"something else")
        file.flush()
        assert str(path) in _held()
        assert str(path) not in _held(before)


def test_what_it_only_reads_is_anothers(path: Path) -> None:
    """A model that somebody has put there."""
    with path.open("rb") as file:
        assert str(path) not in _held()
        with (
            mmap.mmap(file.fileno(), _SIZE, access=mmap.ACCESS_READ),
            mmap.mmap(file.fileno(), _SIZE, access=mmap.ACCESS_COPY),
        ):
            assert str(path) not in _held()


def test_what_lies_in_a_folder_is_anothers() -> None:
    """A working directory, a cache: shm_open(3) makes no folders."""
    with tempfile.TemporaryDirectory(dir=_FOLDER) as folder, open(f"{folder}/artifact", "wb"):
        assert not {name for name in _held() if name.startswith(folder)}


def test_what_another_process_holds_stays(path: Path) -> None:
    """This process itself is the driver, and does not count."""
    with path.open("rb") as file:
        other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(file.fileno(),))
        shared_memory.remove_files({str(path)})
        assert path.exists()
        other.communicate(b"\n")
        shared_memory.remove_files({str(path)})
    assert not path.exists()


def _segment() -> int:
    return int(ctypes.CDLL(None).shmget(0, 1 << 12, 0o1600))


def test_a_segment_of_one_who_had_the_number_before_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    number = _segment()
    if number < 0:
        pytest.skip("this system has no such segments")
    try:
        shared_memory.remove_segments({os.getpid()}, time.time() + 10)
        assert number in {segment.number for segment in shared_memory.segments()}
        hidden = shared_memory.Segment(
            number, maker=0, attached=0, changed_s=int(time.time())
        )  # as another namespace tells it
        with monkeypatch.context() as patch:
            patch.setattr(shared_memory, "segments", lambda: [hidden])
            shared_memory.remove_segments({0, -1}, 0.0)
        assert number in {segment.number for segment in shared_memory.segments()}
    finally:
        shared_memory.remove_segments({os.getpid()}, time.time() - 10)
    assert number not in {segment.number for segment in shared_memory.segments()}
