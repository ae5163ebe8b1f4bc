"""Files by content in a folder: of one machine, or of a network file system that several share."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.errors import BlobLost, StoreError
from assay.models.files import file_digest, flush_to_disk
from assay.ports import BlobInfo

_FULL = (errno.ENOSPC, errno.EDQUOT)


class FolderBlobs:
    """Implements `assay.ports.Blobs`: `ab/abcd...` below the folder."""

    def __init__(self, location: str) -> None:
        self.name = location
        self._folder = Path(location).expanduser().absolute()
        with self._sentences():
            self._folder.mkdir(parents=True, exist_ok=True)

    def put(self, path: Path, digest: str) -> None:
        """A copy, which has its name only when it is whole and on the disk."""
        final = self._path(digest)
        new = final.parent / f".{uuid.uuid4().hex}"
        with self._sentences():
            final.parent.mkdir(exist_ok=True)
            try:
                shutil.copyfile(path, new)
                flush_to_disk(new)
                new.replace(final)
            finally:
                new.unlink(missing_ok=True)

    def fetch(self, digest: str, path: Path) -> None:
        """A copy beside `path`, which gets its name when it is verified."""
        new = path.with_name(f".{uuid.uuid4().hex}")
        with self._sentences(digest):
            try:
                shutil.copyfile(self._path(digest), new)
                verify(new, digest, self.name)
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)

    def read(self, digest: str, start: int, stop: int) -> bytes:
        """These bytes of it alone."""
        with self._sentences(digest), self._path(digest).open("rb") as file:
            file.seek(start)
            return file.read(stop - start)

    def sizes(self, digests: Collection[str]) -> dict[str, int]:
        """The bytes of those that are there."""
        sizes = {}
        for digest in digests:
            with suppress(FileNotFoundError), self._sentences(lost=False):
                sizes[digest] = self._path(digest).stat().st_size
        return sizes

    def every(self) -> Iterator[BlobInfo]:
        """All that are there."""
        for path in self._folder.glob("??/*"):
            if not path.name.startswith("."):
                with suppress(FileNotFoundError), self._sentences(lost=False):
                    status = path.stat()
                    yield BlobInfo(path.name, status.st_size, status.st_mtime)

    def remove(self, digests: Collection[str]) -> None:
        """Those that are not there are passed over."""
        for digest in digests:
            with self._sentences():
                self._path(digest).unlink(missing_ok=True)

    def close(self) -> None:
        """Nothing is open."""

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest

    @contextmanager
    def _sentences(self, digest: str = "", *, lost: bool = True) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            if not lost:
                raise
            if digest:
                raise BlobLost(missing(digest, self.name)) from None
            raise StoreError(_refused(self.name, error)) from None
        except OSError as error:
            raise StoreError(_refused(self.name, error)) from None


def verify(path: Path, digest: str, name: str) -> None:
    """Raises BlobLost where the file has other bytes."""
    actual = file_digest(path)
    if actual != digest:
        raise BlobLost(damaged(digest, name, path.stat().st_size, actual))


def damaged(digest: str, name: str, size: int, actual: str) -> str:
    """The sentence for a blob of other bytes."""
    return (
        f"{digest[:12]} in the store {name} is damaged ({size} bytes with the digest {actual[:12]}): nothing of it was used; "
        "`assay store push --verify` on a machine that has the file puts it there again"
    )


def missing(digest: str, name: str) -> str:
    """The sentence for a blob that is not there."""
    return f"{digest[:12]} is not in the store {name}: `assay store push` on a machine that has the file puts it there"


def _refused(name: str, error: OSError) -> str:
    error_text = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in _FULL:
        return f"the store {name} cannot be written ({error_text}): free some space; nothing that was there is lost"
    return f"the store {name} cannot be read or written ({error_text}): check `store` in assay.toml, and its rights"
