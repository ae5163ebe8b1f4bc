"""Archives are declined: what lies in one would be published and looked at by nobody. Arrays in a .npz are looked at."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator

from assay_zoo.files.arrays import array_trouble
from assay_zoo.files.finding import Finding, Item
from assay_zoo.files.pickles import array_of_objects

RATIO = 100
"""Bytes that one stored byte may unfold to; text of zeros reaches a thousand, models and images stay below ten."""
MEMBERS = 2000
_PEEK_BYTES = 4096
_MAGIC = {
    b"PK\x03\x04": "zip", b"PK\x05\x06": "zip", b"PK\x07\x08": "zip", b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz",
    b"7z\xbc\xaf\x27\x1c": "7z", b"Rar!\x1a\x07": "RAR", b"\x28\xb5\x2f\xfd": "Zstandard", b"\x04\x22\x4d\x18": "LZ4", b"MSCF": "cabinet",
    b"\x1f\x9d": "compress", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "compound document (Office)",
}  # fmt: skip


def archive_problems(item: Item, head: bytes) -> list[Finding]:
    """Why an archive is not taken; empty for arrays of numbers, and for what is none."""
    kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
    kind = kind or ("tar" if head[257:262] == b"ustar" else "MIME" if item.suffix in (".mht", ".mhtml", ".eml") else "")
    if kind == "zip" and item.suffix == ".npz":
        try:
            return list(_arrays(item))
        except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError):
            return [Finding(check="readable", sentence="is an archive that is broken or cut off: make it again")]
    if kind:
        return [_archive(f"is a {kind} archive: hand in the files that are in it, for they are looked at")]
    behind = zipfile.is_zipfile(item.file)
    return [_archive("has a zip archive behind its own contents: hand it in without")] if behind else []


def _arrays(item: Item) -> Iterator[Finding]:
    with zipfile.ZipFile(item.file) as archive:
        members = archive.infolist()
        if len(members) > MEMBERS:
            yield _archive(f"holds {len(members)} files, more than {MEMBERS}")
            return
        unfolded, stored = sum(member.file_size for member in members), max(item.file.stat().st_size, 1)
        if unfolded > item.unfolded_bytes or unfolded > RATIO * stored:
            yield _archive(f"would unfold from {stored} to {unfolded} bytes: a zip bomb")
            return
        for member in members:
            if member.flag_bits & 1:
                yield _archive(f"holds {member.filename!r}, which is encrypted: hand it in as it is")
                continue
            with archive.open(member) as content:
                first = content.read(_PEEK_BYTES)
            if not first.startswith(b"\x93NUMPY"):
                yield _archive(f"holds {member.filename!r}, which is no array: hand it in beside the others")
            elif array_of_objects(first):
                sentence = (
                    f"holds {member.filename!r}, an array of Python objects: it runs code when it is read; leave it out"
                )
                yield Finding(check="pickles", sentence=sentence)
            else:
                yield from _of_array(archive, member)


def _of_array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[Finding]:
    if member.filename.startswith("/") or {"..", ""} & set(re.split(r"[/\\]", member.filename)):
        yield _archive(
            f"holds {member.filename!r}, which would be unpacked outside of its folder: give it a plain name"
        )
    with archive.open(member) as content:
        if trouble := array_trouble(content, member.file_size):
            yield Finding(check="readable", sentence=f"holds {member.filename!r}, which {trouble}: make it again")


def _archive(sentence: str) -> Finding:
    return Finding(check="archives", sentence=sentence)
