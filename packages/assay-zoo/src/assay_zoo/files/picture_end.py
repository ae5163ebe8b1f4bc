"""Where a picture or a sound ends by its own marks: what lies behind is shown by no program, and looked at by nobody."""

from __future__ import annotations

import re
from typing import IO

MOST_BEHIND = 16
"""Bytes that writers leave behind the end: a line break, zeros up to a whole word."""
_PNG, _GIF_FRAME, _GIF_EXTENSION, _GIF_END = b"\x89PNG\r\n\x1a\n", 0x2C, 0x21, 0x3B
_JPEG, _JPEG_SCAN, _JPEG_END, _ALONE = b"\xff\xd8\xff", 0xDA, 0xD9, (0x01, *range(0xD0, 0xDA))
_MARK, _BEHIND_SCAN = (
    re.compile(rb"\xff+([^\x00\xff])", re.DOTALL),
    re.compile(rb"\xff+[^\x00\xff\xd0-\xd7]", re.DOTALL),
)


def bytes_behind(file: IO[bytes], size: int) -> int | None:
    """Bytes behind the end of a PNG, JPEG, GIF, WebP or WAV; None where the parts of it lead to no end. 0 for other kinds."""
    head = file.read(12)
    try:
        if head.startswith(_PNG):
            return size - _png(file, size)
        if head.startswith(b"GIF8"):
            return size - _gif(file, size)
        if head.startswith(_JPEG):
            return size - _jpeg(head + file.read())
    except EOFError:
        return None
    length = int.from_bytes(head[4:8], "little")
    return max(0, size - 8 - length) if head.startswith(b"RIFF") and length else 0  # who writes to a pipe leaves it out


def _png(file: IO[bytes], size: int) -> int:
    at = len(_PNG)
    while at < size:
        file.seek(at)
        start = _read(file, 8)
        at += 12 + int.from_bytes(start[:4], "big")
        if start[4:] == b"IEND" and at <= size:
            return at
    raise EOFError


def _gif(file: IO[bytes], size: int) -> int:
    file.seek(10)
    _colours(file, _read(file, 3)[0])
    while (kind := _read(file, 1)[0]) != _GIF_END:
        if kind == _GIF_FRAME:
            _colours(file, _read(file, 9)[8])
        elif kind != _GIF_EXTENSION:
            raise EOFError
        file.seek(1, 1)  # the size of a code, or the kind of the extension
        while length := _read(file, 1)[0]:
            file.seek(length, 1)
        if file.tell() > size:
            raise EOFError
    return file.tell()


def _jpeg(data: bytes) -> int:
    """A camera writes smaller pictures behind the first."""
    end = 0
    while data.startswith(_JPEG, end):
        at, kind = end + 2, 0
        while kind != _JPEG_END:
            mark = _MARK.match(data, at)
            if mark is None:
                raise EOFError
            at, kind = mark.end(), mark[1][0]
            if kind not in _ALONE:
                at += int.from_bytes(data[at : at + 2], "big")
            if kind == _JPEG_SCAN:
                behind = _BEHIND_SCAN.search(data, at)
                at = behind.start() if behind else len(data)
        end = at
    return end


def _colours(file: IO[bytes], flags: int) -> None:
    """Past a table of colours, where the flags say that there is one."""
    if flags & 0x80:
        file.seek(3 << ((flags & 7) + 1), 1)


def _read(file: IO[bytes], count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise EOFError
    return data
