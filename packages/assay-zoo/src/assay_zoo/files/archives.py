"""Archives are looked into and never unpacked: what lies in them, and how much it would unfold to."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from assay_zoo.files.finding import Finding, Item
from assay_zoo.files.pickles import SUFFIXES, array_of_objects, is_pickle

RATIO = 100
"""Bytes that one stored byte may unfold to; text of zeros reaches a thousand, models and images stay below ten."""
MEMBERS = 2000
_PEEK_BYTES = 4096
_CHUNK_BYTES = 1 << 20
_ARCHIVE_SUFFIXES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst", ".lz4", ".cab", ".npz")
_CLOSED = {
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "RAR",
    b"\x28\xb5\x2f\xfd": "Zstandard",
    b"\x04\x22\x4d\x18": "LZ4",
    b"MSCF": "cabinet",
    b"\x1f\x9d": "compress",
}
_STREAMS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


class _Bomb(Exception):
    """More came out than may."""


def kind_of(head: bytes) -> str:
    """zip, tar, stream or closed by the first bytes; "" for no archive."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        return "zip"
    if any(head.startswith(magic) for magic in _STREAMS):
        return "stream"
    if any(head.startswith(magic) for magic in _CLOSED):
        return "closed"
    return "tar" if head[257:262] == b"ustar" else ""


def archive_problems(item: Item, head: bytes) -> list[Finding]:
    """Everything that keeps an archive from being taken; empty for a harmless one, and for what is none."""
    kind = kind_of(head)
    try:
        if kind == "zip":
            return list(_zip(item))
        if kind == "tar":
            return list(_tar(item, item.file.open("rb")))
        if kind == "stream":
            return list(_stream(item, head))
    except _Bomb as bomb:
        return [_said(str(bomb))]
    except (zipfile.BadZipFile, tarfile.TarError, OSError, EOFError, lzma.LZMAError, ValueError, NotImplementedError):
        return [Finding(check="readable", sentence="is an archive that is broken or cut off: make it again")]
    if kind == "closed":
        name = next(told for magic, told in _CLOSED.items() if head.startswith(magic))
        return [_said(f"is a {name} archive, which cannot be looked into: hand in the files themselves, or a zip")]
    return []


def _zip(item: Item) -> Iterator[Finding]:
    with zipfile.ZipFile(item.file) as archive:
        members = [one for one in archive.infolist() if not one.is_dir()]
        if len(members) > MEMBERS:
            yield _said(f"holds {len(members)} files, more than {MEMBERS}")
            return
        unfolded, stored = sum(one.file_size for one in members), max(item.file.stat().st_size, 1)
        if unfolded > item.unfolded_bytes or unfolded > RATIO * stored:
            raise _Bomb(f"would unfold from {stored} to {unfolded} bytes: a zip bomb")
        for one in members:
            if told := _member_problem(one.filename, stat.S_ISLNK(one.external_attr >> 16)):
                yield told
            elif one.flag_bits & 1:
                yield _said(f"holds {one.filename!r}, which is encrypted: hand it in as it is")
            else:
                with archive.open(one) as content:
                    yield from _content_problems(one.filename, content.read(_PEEK_BYTES))


def _stream(item: Item, head: bytes) -> Iterator[Finding]:
    """One compressed file, or a compressed tar: read through once, to see how much comes out, and kept nowhere."""
    opener = next(one for magic, one in _STREAMS.items() if head.startswith(magic))
    most = min(item.unfolded_bytes, RATIO * item.file.stat().st_size + _CHUNK_BYTES)
    with _Counted(opener(item.file, "rb"), most) as unpacked:
        first = unpacked.read(_PEEK_BYTES)
        name = PurePosixPath(item.path).stem
        if kind_of(first) != "tar":
            yield from _content_problems(name, first)
            while unpacked.read(_CHUNK_BYTES):
                pass
            return
    with _Counted(opener(item.file, "rb"), most) as unpacked:
        yield from _tar(item, unpacked)


def _tar(item: Item, file: Any) -> Iterator[Finding]:
    with file, tarfile.open(fileobj=file, mode="r|") as archive:
        unfolded = 0
        for count, one in enumerate(archive):
            unfolded += one.size
            if count >= MEMBERS:
                yield _said(f"holds more than {MEMBERS} files")
                return
            if unfolded > item.unfolded_bytes:
                raise _Bomb(f"would unfold to {unfolded} bytes and more: too much for this zoo")
            if one.isdir():
                continue
            if told := _member_problem(one.name, not one.isreg()):
                yield told
                continue
            content = archive.extractfile(one)
            yield from _content_problems(one.name, content.read(_PEEK_BYTES) if content else b"")


def _member_problem(name: str, link: bool) -> Finding | None:
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if ".." in parts or name.startswith(("/", "\\")) or name[1:2] == ":":
        return _said(f"holds {name!r}, which would be unpacked outside of its folder")
    if link:
        return _said(f"holds {name!r}, which is a link or no regular file")
    return None


def _content_problems(name: str, first: bytes) -> Iterator[Finding]:
    suffix = Path(name).suffix.lower()
    if is_pickle(first) or suffix in SUFFIXES or (first.startswith(b"\x93NUMPY") and array_of_objects(first)):
        yield Finding(check="pickles", sentence=f"holds {name!r}, a pickle: it runs code when it is read; leave it out")
    elif kind_of(first) or suffix in _ARCHIVE_SUFFIXES:
        yield _said(f"holds {name!r}, an archive in an archive: hand in what is in it")


def _said(sentence: str) -> Finding:
    return Finding(check="archives", sentence=sentence)


class _Counted(io.RawIOBase):
    """Reads through and raises `_Bomb` when more came out than may."""

    def __init__(self, source: Any, most: int) -> None:
        self._source, self._most, self._read = source, most, 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._source.read(_CHUNK_BYTES if size < 0 else size)
        self._read += len(data)
        if self._read > self._most:
            raise _Bomb(f"unfolds to more than {self._most} bytes: a compression bomb")
        return data

    def close(self) -> None:
        self._source.close()
        super().close()
