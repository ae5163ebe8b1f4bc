"""The journal of one run: every result is in the file before the next job is looked at, whatever kills the process.

The file is a mark, then records: length and crc32 (both 32 bits, little endian), then that many bytes of msgpack. The
first record is the run, the others its results. A record that was cut short is dropped on reading and cut off before
the next one is appended.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
import zlib
from pathlib import Path
from types import TracebackType

import msgspec

from assay.core.result import AnyResult, Result
from assay.core.run import Run
from assay.errors import StoreError
from assay.models.files import sync_folder

_MARK = b"assay journal 1\n"
_HEAD = struct.Struct("<II")
_SYNC_EVERY_S = 0.5
_LOCK_WITHIN_S = 0.5
"""Longer than `journal_held` holds a journal to look whether another does."""


class Journal:
    """Append results to the journal of `run`; an existing journal of the same run is continued.

    A result whose `append` returned survives a kill -9 of this process. Against a power cut the file is synchronised
    at most every half second and on `close`. One process at a time: raises StoreError where another holds the journal,
    where the file is no journal or that of another run, and where it cannot be written.
    """

    def __init__(self, path: Path, run: Run) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise _unwritable(path, error) from error
        try:
            self._end = self._continue(run)
        except BaseException:
            os.close(self._handle)
            raise

    def append(self, result: Result) -> None:
        """Write one result. After a failure (disk full) the journal is as it was before the call."""
        self._write(_record(msgspec.msgpack.encode(result)))

    def close(self) -> None:
        """Synchronise and let another process have the journal. Closing twice is harmless."""
        if self._handle >= 0:
            os.fsync(self._handle)
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _continue(self, run: Run) -> int:
        if not _locked(self._handle):
            raise StoreError(
                f"run {run.id} is being written by another process, which holds {self.path}: wait for its end, or "
                "stop it"
            )
        payloads, end = _whole_records(self.path)
        self._synced = time.monotonic()
        os.ftruncate(self._handle, end)
        self._end = end
        if not payloads:
            os.ftruncate(self._handle, 0)
            self._end = 0
            self._write(_MARK + _record(msgspec.msgpack.encode(run)))
            os.fsync(self._handle)
            sync_folder(self.path.parent)
        elif (other := _run(self.path, payloads[0])).id != run.id:
            raise StoreError(f"{self.path} is the journal of run {other.id}, not of {run.id}: use a journal of its own")
        return self._end

    def _write(self, record: bytes) -> None:
        # One write of the whole record: a process that is killed leaves all of it, or a torn tail that reading drops.
        try:
            written = os.write(self._handle, record)
            while written < len(record):
                written += os.write(self._handle, record[written:])
        except OSError as error:
            os.ftruncate(self._handle, self._end)
            raise _unwritable(self.path, error) from error
        self._end += len(record)
        if time.monotonic() - self._synced >= _SYNC_EVERY_S:
            os.fsync(self._handle)
            self._synced = time.monotonic()


def journal_held(path: Path) -> bool:
    """Whether a process is writing the journal: the kernel drops the lock of one that died, however it died. False also
    where nobody has written one here, or it is gone."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def read_journal(path: Path) -> tuple[Run | None, list[Result]]:
    """The run and its results in the order written, the first of each job key; (None, []) where nothing was written.

    Raises StoreError where the file is no journal.
    """
    payloads, _ = _whole_records(path)
    if not payloads:
        return None, []
    decoder: msgspec.msgpack.Decoder[AnyResult] = msgspec.msgpack.Decoder(AnyResult)
    results: dict[str, Result] = {}
    try:
        for payload in payloads[1:]:
            result = decoder.decode(payload)
            results.setdefault(result.job_key, result)
    except msgspec.DecodeError as error:
        raise _foreign(path, error) from error
    return _run(path, payloads[0]), list(results.values())


def _locked(handle: int) -> bool:
    """Whether the file is ours alone now."""
    deadline = time.monotonic() + _LOCK_WITHIN_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        else:
            return True


def _run(path: Path, payload: bytes) -> Run:
    try:
        return msgspec.msgpack.decode(payload, type=Run)
    except msgspec.DecodeError as error:
        raise _foreign(path, error) from error


def _foreign(path: Path, error: msgspec.DecodeError) -> StoreError:
    return StoreError(f"{path} was written by another version of assay ({error}): use that version to resume it")


def _record(payload: bytes) -> bytes:
    return _HEAD.pack(len(payload), zlib.crc32(payload)) + payload


def _whole_records(path: Path) -> tuple[list[bytes], int]:
    """The payloads up to the first record that is not whole, and where the last whole one ends."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return [], 0
    except OSError as error:
        raise StoreError(f"the journal {path} cannot be read ({error.strerror}): check its rights") from error
    if not data.startswith(_MARK):
        if _MARK.startswith(data):
            return [], 0
        raise StoreError(f"{path} is no journal of assay: move it away, or name another history")
    payloads: list[bytes] = []
    end = len(_MARK)
    while end + _HEAD.size <= len(data):
        length, crc = _HEAD.unpack_from(data, end)
        payload = data[end + _HEAD.size : end + _HEAD.size + length]
        if len(payload) < length or zlib.crc32(payload) != crc:
            break
        payloads.append(payload)
        end += _HEAD.size + length
    return payloads, end


def _unwritable(path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"the journal {path} cannot be written ({error.strerror}): free some space there, or name another --history; "
        "what was recorded before is kept"
    )
