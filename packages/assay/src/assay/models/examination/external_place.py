"""Where the external data of one tensor lie, and whether they may.

`onnxruntime` 1.31 loads an outside file through a hard link and `onnx` itself had several escapes (CVE-2022-25882,
CVE-2024-27318, CVE-2026-34446), so that every location is checked here before any library follows it.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from math import prod
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from assay.models.examination.quoting import shown
from assay.models.files import is_lfs_pointer
from assay.numerics.onnx_elements import bits_of

if TYPE_CHECKING:
    from onnx import TensorProto

_NUMBER = re.compile(r"-?[0-9]{1,19}")
"""As every reader of ONNX takes it; Python alone reads other digits, spaces and underscores."""


@dataclass(frozen=True)
class ExternalPlace:
    """`code` is "" where the place is sound; else the rule that it breaks, and `values` are those of its sentence."""

    location: str
    file: Path
    offset: int = 0
    length: int = 0
    checksum: str = ""
    code: str = ""
    values: tuple[int | str, ...] = ()


class _Broken(Exception):
    def __init__(self, code: str, *values: int | str) -> None:
        self.code, self.values = code, values


def external_place(tensor: TensorProto, path: Path) -> ExternalPlace:
    """Inside the folder of the model at `path`, reached through no symlink, a regular file with one link, long enough for the tensor.
    The file is looked up; of its content only the mark of a Git LFS pointer is read."""
    entries = {entry.key: entry.value for entry in tensor.external_data}
    location = entries.get("location", "")
    try:
        file = _file(path, location)
        offset, length = _extent(tensor, entries, file.stat().st_size)
        if len(entries) < len(tensor.external_data):
            raise _Broken("external-entries")
    except _Broken as broken:
        return ExternalPlace(location, path.parent, code=broken.code, values=broken.values)
    return ExternalPlace(location, file, offset, length, entries.get("checksum", ""))


def _file(path: Path, location: str) -> Path:
    folder = path.parent
    parts = PurePosixPath(location).parts
    if not parts:
        raise _Broken("external-nowhere")
    if "\0" in location:
        raise _Broken("external-zero-byte")
    if PurePosixPath(location).is_absolute():
        raise _Broken("external-absolute", shown(location))
    if ".." in parts:
        inside = not os.path.normpath(location).startswith("..")
        raise _Broken("external-way" if inside else "external-outside", shown(location))
    file = folder / location
    step = folder
    try:
        for part in parts:
            step = step / part
            if step.is_symlink():  # raises for a name that is too long
                raise _Broken("external-symlink", shown(location))
        status = file.stat()
    except OSError as error:
        raise _Broken("external-missing", shown(location), error.strerror or "") from None
    if not os.path.realpath(file).startswith(os.path.join(os.path.realpath(folder), "")):
        raise _Broken("external-outside", shown(location))
    if not stat.S_ISREG(status.st_mode):
        raise _Broken("external-irregular", shown(location))
    if status.st_nlink != 1:
        raise _Broken("external-hard-link", shown(location))
    if os.path.samefile(file, path):
        raise _Broken("external-self", shown(location))
    try:
        if is_lfs_pointer(file):
            raise _Broken("external-pointer", shown(location))
    except OSError as error:
        raise _Broken("external-unreadable", shown(location), error.strerror or "") from None
    return file


def _extent(tensor: TensorProto, entries: dict[str, str], size: int) -> tuple[int, int]:
    """Offset and length lie inside the file and hold what type and shape need."""
    stated = {key: entries[key] for key in ("offset", "length") if key in entries}
    for key, text in stated.items():
        if not _NUMBER.fullmatch(text):
            raise _Broken("external-number", key, shown(text))
    offset, length = int(stated.get("offset", "0")), int(stated.get("length", "-1"))
    for key, text in stated.items():
        if int(text) < 0:
            raise _Broken("external-negative", key, int(text))
    needed = (prod(tensor.dims) * bits_of(tensor.data_type) + 7) // 8
    if length not in (-1, needed):
        raise _Broken("external-length", length, needed)
    if offset + needed > size:
        raise _Broken("external-short", shown(entries["location"]), size, offset + needed)
    return offset, needed
