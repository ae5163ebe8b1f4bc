"""What a store of blobs must do, whoever wrote it. Each check raises AssertionError at the first promise broken."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

from assay.core.digest import sha256_bytes
from assay.errors import BlobLost
from assay.ports import Blobs

_LARGE = (32 << 20) + 17
"""More than two parts of a client that sends in parts."""


def check_blobs(make: Callable[[], Blobs]) -> None:
    """`make` opens the same, at first empty, store every time."""
    with tempfile.TemporaryDirectory() as name:
        for check in (round_trip, whole_or_nothing, part_alone, listed_and_removed, side_by_side):
            check(make, Path(name))


def round_trip(make: Callable[[], Blobs], folder: Path) -> None:
    """Bytes come back equal, of any length, also by a store that was opened again."""
    for data in (b"", b"\x00", os.urandom(70_000), os.urandom(_LARGE)):
        path, back = _file(folder, data), folder / "back"
        with closing(make()) as blobs:
            blobs.put(path, sha256_bytes(data))
            blobs.put(path, sha256_bytes(data))
        with closing(make()) as blobs:
            blobs.fetch(sha256_bytes(data), back)
        assert back.read_bytes() == data, f"{len(data)} bytes came back changed"


def whole_or_nothing(make: Callable[[], Blobs], folder: Path) -> None:
    """What is not there, or is damaged, is BlobLost, and leaves no file; what was there stays."""
    with closing(make()) as blobs:
        other = sha256_bytes(b"what it should be")
        blobs.put(_file(folder, b"what it is"), other)
        for digest in (sha256_bytes(b"never put"), other):
            for path, before in ((folder / "none", None), (_file(folder, b"before", "there"), b"before")):
                try:
                    blobs.fetch(digest, path)
                except BlobLost:
                    assert (path.read_bytes() if path.exists() else None) == before, (
                        "a fetch that failed left something"
                    )
                else:
                    raise AssertionError("bytes that have another digest were given out")
        left = sorted(path.name for path in folder.iterdir() if path.name.startswith("."))
        assert not left, f"half of a file was left: {left}"
        blobs.put(_file(folder, b"what it should be"), other)
        blobs.fetch(other, folder / "right")


def part_alone(make: Callable[[], Blobs], folder: Path) -> None:
    """A part of a blob is read without the rest."""
    data = os.urandom(10_000)
    with closing(make()) as blobs:
        blobs.put(_file(folder, data), sha256_bytes(data))
        for start, stop in ((0, 8), (8, 8), (9_990, 10_000), (0, 10_000)):
            assert blobs.read(sha256_bytes(data), start, stop) == data[start:stop], (
                f"bytes {start} to {stop} are others"
            )
        try:
            blobs.read(sha256_bytes(b"never put"), 0, 1)
        except BlobLost:
            return
    raise AssertionError("a part of what is not there was given out")


def listed_and_removed(make: Callable[[], Blobs], folder: Path) -> None:
    """The listing has every blob once, with its size, and none that was removed."""
    some = {sha256_bytes(data): data for data in (b"one", b"twenty", b"three hundred")}
    with closing(make()) as blobs:
        for digest, data in some.items():
            blobs.put(_file(folder, data), digest)
        absent = sha256_bytes(b"never put")
        assert blobs.sizes([*some, absent]) == {digest: len(data) for digest, data in some.items()}
        listed = [blob_info for blob_info in blobs.every() if blob_info.digest in some]
        assert sorted((blob_info.digest, blob_info.size_bytes) for blob_info in listed) == sorted(
            (d, len(b)) for d, b in some.items()
        )
        assert all(blob_info.changed_s > 1.6e9 for blob_info in listed), "a blob has no time"
        gone, *rest = some
        blobs.remove([gone, absent])
        blobs.remove([])
        assert set(blobs.sizes(list(some))) == set(rest), "other blobs were removed than were named"
        assert gone not in {blob_info.digest for blob_info in blobs.every()}


def side_by_side(make: Callable[[], Blobs], folder: Path) -> None:
    """Threads share a store, and may put the same."""
    many = [os.urandom(2_000) for _ in range(40)] * 2
    paths = [_file(folder, data, f"many-{number}") for number, data in enumerate(many)]
    with closing(make()) as blobs, ThreadPoolExecutor(8) as threads:
        list(threads.map(blobs.put, paths, map(sha256_bytes, many)))
        backs = [folder / f"back-{number}" for number in range(len(many))]
        list(threads.map(blobs.fetch, map(sha256_bytes, many), backs))
        assert [path.read_bytes() for path in backs] == many


def _file(folder: Path, data: bytes, name: str = "data") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path
