"""Bytes by sha256 in a folder: written whole or not at all, read-only, verified on read."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from assay.core.digest import sha256_bytes
from assay.errors import BlobCorrupt, BlobMissing, StoreError

_DIGEST = re.compile(r"[0-9a-f]{64}")


class FolderBlobs:
    """A blob store in a folder (`ab/cd/abcd...`), safe for many processes at once. Implements `assay.ports.Blobs`.

    The folder is made by the first `put`. The same key always holds the same bytes, so that the last of two writers
    may win; a power cut leaves a blob whole or absent, and perhaps a `.part-` file that nobody reads.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def put(self, data: bytes) -> str:
        """Keep the bytes, return their sha256. A damaged copy that is found in their place is replaced.

        Raises StoreError where the folder cannot be written; nothing that was there before is lost.
        """
        digest = sha256_bytes(data)
        path = self._path(digest)
        try:
            if not _holds(path, data):
                _make_folder(path.parent)
                _write_whole(path, data)
        except OSError as error:
            raise StoreError(
                f"a blob of {len(data)} bytes cannot be written below {self.folder} ({error.strerror}): free some "
                "space there, or name a folder that can be written"
            ) from error
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of that sha256. Raises BlobMissing, or BlobCorrupt where the bytes on disk are others."""
        if not _DIGEST.fullmatch(digest):
            raise BlobMissing(f'"{digest}" is no sha256 (64 hexadecimal digits), so that {self.folder} cannot hold it')
        try:
            data = self._path(digest).read_bytes()
        except FileNotFoundError:
            raise BlobMissing(
                f"blob {digest} is not in {self.folder}: run the job again, or copy the blobs of this history"
            ) from None
        except OSError as error:
            raise StoreError(
                f"blob {digest} in {self.folder} cannot be read ({error.strerror}): check its rights"
            ) from error
        if sha256_bytes(data) != digest:
            raise BlobCorrupt(
                f"blob {digest} in {self.folder} holds other bytes than its name promises: delete {self._path(digest)} "
                "and run the job again"
            )
        return data

    def _path(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest[2:4] / digest


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _make_folder(folder: Path) -> None:
    """The new names are on the disk before anything is written into them."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_folder(each.parent)


def _write_whole(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o444)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """The names in `folder` survive a power cut from here on."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
