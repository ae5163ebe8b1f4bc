"""Lengths that the header of a GGUF file claims, held against the bytes that it has: gguf believes them.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_MAGIC, _VERSIONS = b"GGUF", (2, 3)
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value by its type."""
_STRING, _ARRAY = 8, 9
_LEAST_FIELD, _LEAST_TENSOR = 13, 24
"""Bytes of one with an empty name."""
MOST_ENTRIES = 2**21
"""Of all arrays together: gguf makes objects of each. The largest vocabularies have 262,144 tokens in four of them."""
MOST_DIMENSIONS = 4
_MOST_NAME = 2**16


def check_header(path: Path) -> None:
    """Raises ValueError for one that cannot be, and OSError. At most its entries are walked, and of them MOST_ENTRIES."""
    with path.open("rb") as file:
        _Header(file, path.stat().st_size).check()


class _Header:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size, self._entries = file, size, 0

    def check(self) -> None:
        if self._file.read(4) != _MAGIC:
            raise ValueError("it does not begin with GGUF")
        version = self._number(4)
        if version not in _VERSIONS:
            raise ValueError(f"version {version}, or another order of bytes")
        tensors, fields = self._number(8), self._number(8)
        self._fits(tensors * _LEAST_TENSOR + fields * _LEAST_FIELD, f"{tensors} tensors and {fields} fields")
        for _ in range(fields):
            self._skip(self._number(8), "the name of a field", _MOST_NAME)
            self._value(self._number(4))
        for _ in range(tensors):
            self._tensor()

    def _value(self, kind: int) -> None:
        if kind == _STRING:
            self._skip(self._number(8), "a text")
        elif kind == _ARRAY:
            self._array()
        else:
            self._skip(self._width(kind), "a value")

    def _array(self) -> None:
        kind, count = self._number(4), self._number(8)
        if kind == _ARRAY:
            raise ValueError("arrays of arrays")
        width = 8 if kind == _STRING else self._width(kind)
        self._fits(count * width, f"an array of {count} entries")
        self._entries += count
        if self._entries > MOST_ENTRIES:
            raise ValueError(f"arrays of more than {MOST_ENTRIES} entries")
        if kind != _STRING:
            return self._skip(count * width, "an array")
        for _ in range(count):
            self._skip(self._number(8), "a text")
        return None

    def _tensor(self) -> None:
        self._skip(self._number(8), "the name of a tensor", _MOST_NAME)
        dimensions = self._number(4)
        if dimensions > MOST_DIMENSIONS:
            raise ValueError(f"a tensor of {dimensions} dimensions")
        elements = 1
        for _ in range(dimensions):
            elements *= self._number(8)
        # No type stores more than eight to a byte.
        if elements > 8 * self._size:
            raise ValueError(f"a tensor of {elements} elements in a file of {self._size} bytes")
        self._skip(12, "a tensor")

    def _width(self, kind: int) -> int:
        if kind not in _SIZES:
            raise ValueError(f"a value of the type {kind}")
        return _SIZES[kind]

    def _number(self, width: int) -> int:
        read = self._file.read(width)
        if len(read) != width:
            raise ValueError("it was cut short")
        return int(struct.unpack("<I" if width == 4 else "<Q", read)[0])

    def _skip(self, count: int, what: str, most: int = 2**63) -> None:
        self._fits(count, f"{what} of {count} bytes")
        if count > most:
            raise ValueError(f"{what} of {count} bytes")
        self._file.seek(count, 1)

    def _fits(self, count: int, what: str) -> None:
        if count > self._size - self._file.tell():
            raise ValueError(f"{what} in a file of {self._size} bytes")
