"""A file has one digest however it is stored, and what is not stored is not read."""

from __future__ import annotations

import errno
import hashlib
import os
from pathlib import Path

import pytest

from assay.models.files import file_digest

MIB = 1 << 20


def sparse(path: Path, size: int, parts: dict[int, bytes]) -> Path:
    with path.open("wb") as file:
        for at, data in parts.items():
            file.seek(at)
            file.write(data)
        file.truncate(size)
    return path


@pytest.mark.parametrize(
    ("size", "parts"),
    [
        (64 * MIB, {}),
        (64 * MIB, {0: b"head"}),
        (64 * MIB, {64 * MIB - 4: b"tail"}),
        (64 * MIB + 7, {0: b"head", 20 * MIB + 5: bytes(range(256)) * 9000, 50 * MIB: b"x"}),
        (3, {0: b"abc"}),
        (0, {}),
    ],
    ids=["hole", "head", "tail", "parts", "small", "empty"],
)
def test_a_sparse_file_has_the_digest_of_its_bytes(size: int, parts: dict[int, bytes], tmp_path: Path) -> None:
    path = sparse(tmp_path / "w.bin", size, parts)
    before = bytes_read()
    digest = file_digest(path)
    assert bytes_read() - before < 8 * MIB
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_system_that_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = sparse(tmp_path / "w.bin", 4 * MIB, {2 * MIB: b"middle"})
    seek = os.lseek

    def unknown(descriptor: int, at: int, how: int) -> int:
        if how in (os.SEEK_HOLE, os.SEEK_DATA):
            raise OSError(errno.EINVAL, "Invalid argument")
        return seek(descriptor, at, how)

    monkeypatch.setattr(os, "lseek", unknown)
    assert file_digest(path) == hashlib.sha256(path.read_bytes()).hexdigest()


def bytes_read() -> int:
    """By this process, from files."""
    lines = Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
