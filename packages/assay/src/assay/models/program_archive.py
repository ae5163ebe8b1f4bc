"""What a `.pt2` archive may hold: torch's reader must find the entries that were checked, and no others.

torch.export.load (2.13) takes every entry below models/ for a program, whatever it is called, and where the newer reader
fails goes on with the format before torch 2.8, whose weights and inputs are pickles.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

from assay.core.note import noted
from assay.core.refusals.model_codes import ModelCode
from assay.errors import InvalidModel

_HARMLESS = 64 * 2**20
_PLAIN_RATIO = 64
"""Deflate shrinks real graphs and weights less than this, and a bomb up to a thousand times. So few bytes are none."""
_ENTRY = re.compile(
    r"archive_(?:format|version)|byteorder|\.(?:data/)?\w+|extra/.+|models/model\.json|"
    r"data/(?:weights|constants)/[^/]+|data/sample_inputs/model\.pt"
)
"""What torch.export.save writes, behind the name of the archive."""
_END, _END_64, _PLACE_64 = (
    (struct.Struct("<4s4H2LH"), b"PK\5\6"),
    (struct.Struct("<4sQ2H2L4Q"), b"PK\6\6"),
    (struct.Struct("<4sLQL"), b"PK\6\7"),
)
"""How a list of entries ends (APPNOTE 4.3.14 to 4.3.16)."""


def check_archive(path: Path, archive: zipfile.ZipFile) -> dict[str, str]:
    """The entries by their names, and behind the name of the archive in small letters: torch's reader does not tell large
    ones apart. Raises InvalidModel."""
    check_size(path.name, archive, path.stat().st_size)
    _check_list(path)
    inner: dict[str, str] = {}
    names: set[str] = set()
    for zip_info in archive.infolist():
        # torch's reader takes the first of two entries of one name, zipfile the last: another than was checked.
        if zip_info.filename.lower() in names or zip_info.filename != zip_info.orig_filename:
            raise InvalidModel(noted(ModelCode.PROGRAM_ENTRY_TWICE, file=path.name, entry=zip_info.filename))
        names.add(zip_info.filename.lower())
        inner[zip_info.filename] = zip_info.filename.partition("/")[2].lower()
    if any(name.endswith("/data.pkl") or name == "data.pkl" for name in inner):
        raise InvalidModel(noted(ModelCode.PROGRAM_PICKLE, file=path.name))
    programs = sum(name.startswith("models/") for name in inner.values())
    if programs != 1:
        raise InvalidModel(noted(ModelCode.PROGRAM_GRAPHS, file=path.name, graphs=programs))
    for name, rest in inner.items():
        _check_entry(path, name, rest)
    return inner


def check_size(name: str, archive: zipfile.ZipFile, packed: int) -> None:
    """What it unpacks to, before anything of it is unpacked."""
    unpacked = sum(zip_info.file_size for zip_info in archive.infolist())
    if unpacked > _HARMLESS and unpacked > _PLAIN_RATIO * packed:
        raise InvalidModel(noted(ModelCode.PROGRAM_BOMB, file=name, packed=packed, unpacked=unpacked))


def check_inner_size(name: str, data: bytes) -> None:
    """Of an archive that is an entry itself."""
    if zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_size(name, archive, len(data))


def _check_entry(path: Path, name: str, rest: str) -> None:
    if rest.startswith("data/aotinductor/"):
        raise InvalidModel(noted(ModelCode.PROGRAM_COMPILED, file=path.name, entry=rest))
    if re.fullmatch(r"data/(weights|constants)/.*\.pt", rest):
        raise InvalidModel(noted(ModelCode.PROGRAM_OLD_PICKLE, file=path.name, entry=rest))
    if not _ENTRY.fullmatch(rest):
        raise InvalidModel(noted(ModelCode.PROGRAM_FOREIGN_ENTRY, file=path.name, entry=name))


def _check_list(path: Path) -> None:
    """The list of entries ends where the file ends, and lies where the end says. A reader that looks for it elsewhere (zipfile
    moves the list behind what was put before an archive, torch's reader does not) would see another list."""
    size = path.stat().st_size
    with path.open("rb") as file:
        ends = size - _END[0].size
        mark, *_, length, start, comment = _unpacked(file, ends, _END[0])
        mark_place, _, place, _ = _unpacked(file, ends - _PLACE_64[0].size, _PLACE_64[0])
        if mark_place == _PLACE_64[1]:
            ends -= _PLACE_64[0].size + _END_64[0].size
            mark_64, *_, length, start = _unpacked(file, ends, _END_64[0])
            if place != ends or mark_64 != _END_64[1]:
                ends = -1
    if mark != _END[1] or comment or start + length != ends:
        raise InvalidModel(noted(ModelCode.PROGRAM_ENTRIES_ELSEWHERE, file=path.name))


def _unpacked(file: io.BufferedReader, place: int, form: struct.Struct) -> tuple[Any, ...]:
    file.seek(max(place, 0))
    return form.unpack(file.read(form.size).ljust(form.size, b"\0"))
