"""In which encoding Python and pip read a file: what is looked at must be what is run."""

from __future__ import annotations

import codecs
import re

_SAYS = re.compile(rb"(?:^|\r)[ \t\f\v]*#[^\n]*?coding[:=]\s*([-\w.]+)")
"""PEP 263, and pip/_internal/utils/encoding.py: in a comment of the first two lines."""
_SAME = re.compile(r"utf-?8(?:-.*)?|(?:us-)?ascii")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip


def encoding_trouble(data: bytes) -> str:
    """What is wrong, the file's name left out; "" for UTF-8 and ASCII."""
    encodings = [name for mark, name in _MARKS.items() if data.startswith(mark)][:1]
    for line in data.removeprefix(codecs.BOM_UTF8).split(b"\n")[:2]:
        encodings += [encoding.decode("ascii") for encoding in _SAYS.findall(line)]
    other = [encoding for encoding in encodings if not _SAME.fullmatch(encoding.lower().replace("_", "-"))]
    return f"says that it is written in {other[0][:40]!r}: write it in UTF-8, as it is looked at" if other else ""


def encoding_of(data: bytes) -> str:
    """In which a browser or a table calculation reads a file: by its mark, or by the zero bytes beside the first letter."""
    if data.startswith(codecs.BOM_UTF16_LE) or (data[1:2] == b"\0" and data[:1] > b"\0"):
        return "utf-16-le"
    return "utf-16-be" if data.startswith(codecs.BOM_UTF16_BE) or (data[:1] == b"\0" and data[1:2] > b"\0") else "utf-8"


def decoded(data: bytes) -> str:
    return data.decode(encoding_of(data), "replace").removeprefix("\ufeff")


def as_table(data: bytes) -> str:
    """Text as a table calculation saves it: UTF-8, UTF-16 with its mark, or the letters of western Windows. Raises UnicodeDecodeError."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        if _CONTROLS.search(data):
            raise
        return data.decode("cp1252")
