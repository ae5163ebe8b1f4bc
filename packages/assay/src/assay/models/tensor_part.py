"""One tensor of a safetensors file of which only some bytes are read: from a store, a file of gigabytes is not fetched for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.dtype import numpy_dtype
from assay.core.note import noted
from assay.core.refusals.golden_codes import GoldenCode
from assay.errors import BadGolden
from assay.models.tensors import NATIVE, NOTE, RAW, Array, Stored, from_raw

Read = Callable[[int, int], bytes]
"""The bytes of the file from the first number to the second."""
_MOST_HEADER_BYTES = 100_000_000
"""What the library allows."""


class _Entry(msgspec.Struct):
    dtype: str
    shape: tuple[int, ...]
    data_offsets: tuple[int, int]


class TensorPart(msgspec.Struct, frozen=True):
    """One tensor, as it lies in the file. `sha256` is that of its bytes there."""

    array: Array
    sha256: str


def read_part(read: Read, size_bytes: int, name: str) -> TensorPart:
    """The tensor of that name. Raises BadGolden where these are not the bytes of such a file, or it has none of that name."""
    header, begin = _header(read, size_bytes)
    metadata = _decoded(header.get("__metadata__", b"{}"), dict[str, str])
    note = _decoded(metadata.get(NOTE, "{}"), dict[str, Stored])
    if name not in header or name == "__metadata__":
        raise BadGolden(noted(GoldenCode.PART_NOT_THERE, tensor=name))
    entry = _decoded(header[name], _Entry)
    first, last = (begin + offset for offset in entry.data_offsets)
    if not begin <= first <= last <= size_bytes:
        raise _corrupt()
    body = read(first, last)
    try:
        array = _array(body, entry, note.get(name))
    except (KeyError, ValueError):
        raise _corrupt() from None
    return TensorPart(array, hashlib.sha256(body).hexdigest())


def digests(path: Path) -> dict[str, str]:
    """The sha256 of the bytes of every tensor of a file, by name."""
    with path.open("rb") as file:

        def read(first: int, last: int) -> bytes:
            file.seek(first)
            return file.read(last - first)

        header, begin = _header(read, path.stat().st_size)
        digests_by_name = {}
        for name in header.keys() - {"__metadata__"}:
            first, last = (begin + offset for offset in _decoded(header[name], _Entry).data_offsets)
            file.seek(first)
            digests_by_name[name] = _digest(file, last - first)
        return digests_by_name


def _digest(file: Any, size: int) -> str:
    hasher = hashlib.sha256()
    while size > 0 and (body := file.read(min(size, 1 << 20))):
        hasher.update(body)
        size -= len(body)
    return hasher.hexdigest()


def _header(read: Read, size_bytes: int) -> tuple[dict[str, msgspec.Raw], int]:
    """By name, and where the tensors begin."""
    length = int.from_bytes(read(0, 8), "little") if size_bytes >= 8 else 0
    if not 2 <= length <= min(_MOST_HEADER_BYTES, size_bytes - 8):
        raise _corrupt()
    return _decoded(read(8, 8 + length), dict[str, msgspec.Raw]), 8 + length


def _decoded(data: bytes | str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _corrupt() from None


def _array(body: bytes, entry: _Entry, stored: Stored | None) -> Array:
    if stored is not None:
        if stored.dtype not in RAW:
            raise _corrupt()
        return from_raw(np.frombuffer(body, np.uint8), stored)
    return np.frombuffer(body, numpy_dtype(NATIVE[entry.dtype])).reshape(entry.shape)


def _corrupt() -> BadGolden:
    return BadGolden(noted(GoldenCode.PART_DAMAGED))
