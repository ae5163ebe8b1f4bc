"""Files between machines that share no disk: which ones a job names, and where they lie on a node. All paths of the driver lie below one
folder there, its `base`; what is in the files goes by the store."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from glob import escape
from pathlib import Path
from typing import Any

import msgspec

from assay import plugins
from assay.core.job_base import Job
from assay.launch.ray.imported_files import modules_of
from assay.models.files import file_digest, user_cache
from assay.ports import Blobs

BLOBS, FOLDER = "assay.blobs", "folder"
AT_ONCE = 8
"""Files that go up or down side by side."""
NAMED_AS_GIVEN = ("source", "golden", "given")
"""Fields of models and inputs."""
EXTERNAL = b"location"
"""The key by which an ONNX file names a file of weights beside it."""


class TravellingFile(msgspec.Struct, frozen=True):
    """`path` is that on the driver."""

    path: str
    sha256: str
    size_bytes: int


def open_store(address: str) -> Blobs:
    """Raises StoreError, UnknownName."""
    scheme, separator, _ = address.partition("://")
    blobs: Blobs = plugins.load(BLOBS, scheme if separator else FOLDER)(address)
    return blobs


class KnownFiles:
    """Files that this machine and the store both have. `at` says where a path of the driver lies here."""

    def __init__(self, blobs: Blobs, at: Callable[[str], Path]) -> None:
        self._blobs, self._at = blobs, at
        self._known: dict[str, tuple[int, int, str]] = {}
        self._there: set[str] = set()

    def fetch(self, files: Sequence[TravellingFile]) -> None:
        """Those that are not here as they are in the store. Raises StoreError, BlobLost."""
        missing = {file.path: file for file in files if self._digest_here(file.path) != file.sha256}
        side_by_side(self._fetch, list(missing.values()))

    def send(self, paths: Sequence[str]) -> tuple[TravellingFile, ...]:
        """What lies there now, of files and folders; what the store does not have goes there. Raises StoreError."""
        every = [file for path in paths for file in self._below(path)]
        digests = {path: self._digest(path) for path in dict.fromkeys(every)}
        files = [TravellingFile(path, digest, self._known[path][0]) for path, digest in digests.items() if digest]
        self.put(files)
        return tuple(files)

    def put(self, files: Sequence[TravellingFile]) -> None:
        """Each content once."""
        wanted = {file.sha256: file for file in files if file.sha256 not in self._there}
        there = self._blobs.sizes(list(wanted)) if wanted else {}
        missing = [file for digest, file in wanted.items() if there.get(digest) != file.size_bytes]
        side_by_side(lambda file: self._blobs.put(self._at(file.path), file.sha256), missing)
        self._there.update(wanted)

    def changed(self, paths: Sequence[str]) -> tuple[TravellingFile, ...]:
        """Those at these paths, and beside them under names that begin so, that are new here or otherwise than they were known: they go to
        the store. A job may write beside the folder that it names (a coarse tolerance)."""
        every = [file for path in paths for beside in self._beside(path) for file in self._below(beside)]
        before = {path: self._known.get(path) for path in dict.fromkeys(every)}
        return self.send([path for path, known in before.items() if known is None or known[:2] != self._stat(path)])

    def _fetch(self, file: TravellingFile) -> None:
        place = self._at(file.path)
        place.parent.mkdir(parents=True, exist_ok=True)
        self._blobs.fetch(file.sha256, place)
        status = place.stat()
        self._known[file.path] = (status.st_size, status.st_mtime_ns, file.sha256)

    def _digest_here(self, path: str) -> str:
        """ "" where it is not here, or was never looked at: fetching it is as quick as reading it."""
        known = self._known.get(path)
        return known[2] if known and known[:2] == self._stat(path) else ""

    def _digest(self, path: str) -> str:
        known = self._digest_here(path)
        status = self._stat(path)
        if known or status is None:
            return known
        try:
            digest = file_digest(self._at(path))
        except OSError:  # a file that went away while it was looked at is none of the job's
            return ""
        self._known[path] = (*status, digest)
        return digest

    def _stat(self, path: str) -> tuple[int, int] | None:
        try:
            status = self._at(path).stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def _beside(self, path: str) -> list[str]:
        folder, name = os.path.split(path)
        return [f"{folder}/{other.name}" for other in self._at(folder).glob(f"{escape(name)}*")]

    def _below(self, path: str) -> Iterator[str]:
        """The files of a folder, or the file itself, by their paths on the driver."""
        place = self._at(path)
        if place.is_file():
            yield path
        elif place.is_dir():
            for file in sorted(place.rglob("*")):
                if file.is_file() and not file.is_symlink():
                    yield f"{path}/{file.relative_to(place).as_posix()}"


def side_by_side(work: Callable[[TravellingFile], object], files: Sequence[TravellingFile]) -> None:
    """Raises what the first of them raised."""
    if files:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            list(threads.map(work, files))


def named_files(value: Any) -> list[str]:
    """The models, goldens and inputs that a job names as its user does, however deep: they are there, and their paths may be relative."""
    if isinstance(value, dict):
        texts = [part for name, part in value.items() if name in NAMED_AS_GIVEN and isinstance(part, str) and part]
        named = [
            path for text in texts for path in ((text,) if os.path.exists(text) else modules_of(text, os.getcwd()))
        ]
        below = [path for part in value.values() for path in named_files(part)]
        return list(dict.fromkeys([*named, *below]))
    return [path for part in value for path in named_files(part)] if isinstance(value, list) else []


def weights_beside(model: str) -> list[str]:
    """Files below the folder of an ONNX file whose names stand in it, as those of weights do. It is not parsed: only a worker may."""
    path = Path(model)
    if path.suffix != ".onnx" or not path.is_file() or not path.stat().st_size:
        return []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        if content.find(EXTERNAL) < 0:
            return []
        beside = [other for other in path.parent.rglob("*") if other.is_file() and other != path]
        return [str(other) for other in beside if content.find(other.relative_to(path.parent).as_posix().encode()) >= 0]


def roots_of(job: Job) -> list[str]:
    """Below which a text is a path: the working folder, the user's cache, the history."""
    history = [str(Path(job.scratch).parents[1])] if job.scratch.count("/") > 2 else []
    return list(dict.fromkeys([str(Path.cwd()), str(user_cache()), *history]))


def paths_in(value: Any, roots: Sequence[str]) -> set[str]:
    """All texts of a value, however deep, that are absolute paths below one of these folders."""
    if isinstance(value, str):
        return {value} if value.startswith(tuple(f"{root}/" for root in roots)) else set()
    if isinstance(value, dict):
        return set().union(*(paths_in(part, roots) for pair in value.items() for part in pair))
    return set().union(*(paths_in(part, roots) for part in value)) if isinstance(value, list) else set()


def with_texts(value: Any, change: Callable[[str], str]) -> Any:
    """The same value with each of its texts changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {with_texts(name, change): with_texts(part, change) for name, part in value.items()}
    return [with_texts(part, change) for part in value] if isinstance(value, list) else value
