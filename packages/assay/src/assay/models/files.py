"""What can be said about a file before it is opened: missing, empty, a pointer; and its digest."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.model_finding import Area, ModelFinding
from assay.core.model_part import ModelPart, PartKind
from assay.core.nearest_name import nearest
from assay.core.note import Note, NoteCode, noted
from assay.core.refusals.usage_codes import UsageCode
from assay.errors import BadModel, UsageError

if TYPE_CHECKING:
    from hashlib import _Hash

_LFS_PREFIX = b"version https://git-lfs.github.com/spec/v1"
_CHUNK_BYTES = 1 << 20
_ZEROS = bytes(_CHUNK_BYTES)


MOST_NAMES = 10_000
"""Names of a folder that are looked through for the nearest."""


def nearest_file(path: Path, suffixes: Collection[str]) -> Path | None:
    """The file beside it, with one of these suffixes, that was probably meant."""
    try:
        beside = [file.name for file in islice(path.parent.iterdir(), MOST_NAMES) if file.suffix in suffixes]
    except OSError:
        return None
    near = nearest(path.name, beside, cutoff=0.7)
    return path.with_name(near) if near else None


class UnreadableFile(BadModel):
    """Nothing can be said of its content, but the `findings`."""

    def __init__(self, text: str | Note, findings: Sequence[ModelFinding] = ()) -> None:
        super().__init__(text)
        self.findings = findings


def unreadable(path: Path, code: str, *values: int | str) -> UnreadableFile:
    """The error, by its row of `UNREADABLE` in `assay.core.model_finding_text`."""
    finding = ModelFinding(Area.MODEL, code, ModelPart(PartKind.FILE, path.name), values)
    return UnreadableFile(unreadable_note(path, finding), [finding])


def unreadable_note(path: Path, finding: ModelFinding) -> Note:
    values = tuple(value if isinstance(value, int) else str(value) for value in finding.values)
    return noted(NoteCode.UNREADABLE_FILE, file=str(path), finding=finding.code, values=values)


def check_model_file(path: Path) -> None:
    """Raise `BadModel` for whatever is no readable, non-empty, regular file, in a few kilobytes of memory.

    The content is not looked at beyond the mark of a Git LFS pointer: that is the worker's task.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        near = nearest_file(path, (".onnx", ".pt2"))
        if near:
            raise unreadable(path, "file-misspelt", str(near)) from None
        raise unreadable(path, "file-missing") from None
    except OSError as error:
        raise unreadable(path, "file-closed", str(error.strerror)) from None
    if stat.S_ISDIR(status.st_mode):
        raise unreadable(path, "directory")
    if not stat.S_ISREG(status.st_mode):
        raise unreadable(path, "irregular")
    if status.st_size == 0:
        raise unreadable(path, "empty")
    try:
        pointer = is_lfs_pointer(path)
    except OSError as error:
        raise unreadable(path, "file-closed", str(error.strerror)) from None
    if pointer:
        raise unreadable(path, "lfs-pointer")


def is_lfs_pointer(path: Path) -> bool:
    """Whether the file is the small text that Git LFS leaves in place of content it did not fetch. Raises OSError."""
    with path.open("rb") as file:
        return file.read(len(_LFS_PREFIX)) == _LFS_PREFIX


def file_digest(path: Path, make: Callable[[], _Hash] = hashlib.sha256) -> str:
    """The sha256 (or another hash) of the bytes of one file, in hexadecimal digits, read in chunks of 1 MiB. Raises OSError.

    The holes of a sparse file are zeros by definition: they are hashed and not read, so that a file has one digest however it is
    stored."""
    digest = make()
    with path.open("rb", buffering=0) as file:
        at = 0
        for start, end in _holes(file.fileno()):
            while at < start and (chunk := file.read(min(_CHUNK_BYTES, start - at))):
                digest.update(chunk)
                at += len(chunk)
            for left in range(end - start, 0, -_CHUNK_BYTES):
                digest.update(_ZEROS if left >= _CHUNK_BYTES else bytes(left))
            at = file.seek(end)
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


def _holes(descriptor: int) -> list[tuple[int, int]]:
    """Begin and end of each; none where the disk holds as many bytes as the file has, or the file system does not tell."""
    status = os.fstat(descriptor)
    holes: list[tuple[int, int]] = []
    at = status.st_size if status.st_blocks * 512 >= status.st_size else 0
    try:
        while at < status.st_size and (start := os.lseek(descriptor, at, os.SEEK_HOLE)) < status.st_size:
            at = _data_after(descriptor, start, status.st_size)
            holes.append((start, at))
    except OSError:
        holes = []
    finally:
        os.lseek(descriptor, 0, os.SEEK_SET)
    return holes


def _data_after(descriptor: int, start: int, size: int) -> int:
    """Where a hole ends."""
    try:
        return os.lseek(descriptor, start, os.SEEK_DATA)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        return size


def folder_digest(folder: str | Path) -> tuple[int, str]:
    """Bytes of all files below, and the sha256 of their digests in the order of their names ("" for no file). Raises
    OSError."""
    total, size = hashlib.sha256(), 0
    files = sorted(_files_below(str(folder), ()))
    for parts, path in files:
        digest = hashlib.sha256()
        with open(path, "rb", buffering=0) as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
                size += len(chunk)
        total.update(f"{'/'.join(parts)}:{digest.hexdigest()}\n".encode())
    return size, total.hexdigest() if files else ""


def _files_below(folder: str, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file():
                yield (*above, entry.name), entry.path
            elif entry.is_dir(follow_symlinks=False):
                yield from _files_below(entry.path, (*above, entry.name))


def user_cache() -> Path:
    """`$ASSAY_CACHE`, else `$XDG_CACHE_HOME/assay`, else `~/.cache/assay`: what all projects share, and none would miss. Raises
    UsageError for a user without a home."""
    own = os.environ.get("ASSAY_CACHE")
    if own:
        return Path(own).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "assay"
    except RuntimeError:
        raise UsageError(noted(UsageCode.NO_HOME)) from None


def flush_to_disk(path: Path) -> None:
    """fsync a file or a folder: what was written before survives a power cut. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """The names in `folder` survive a power cut from here on."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
