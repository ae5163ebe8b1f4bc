"""Whether a file has the outer structure of an ONNX model, without reading what lies between: a sparse file of a gibibyte costs a
few kilobytes.

A file of protobuf is a row of fields, each with a key (its number and how it is stored) and mostly a length. ModelProto and the
graph inside it are walked here, key by key; what they hold is left to the parser.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BufferedReader

_GRAPH = 7
"""The number of ModelProto.graph."""
_MOST_FIELDS = 1_000_000
"""Of the model and of the graph: nodes, weights, inputs. The parser needs a hundred times the bytes of a small one."""
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_LONGEST_VARINT = 10


@dataclass(frozen=True)
class WireProblem:
    """`code` and the byte at which the file is no longer a model."""

    code: str
    byte: int


class _Broken(Exception):
    def __init__(self, code: str, byte: int) -> None:
        self.problem = WireProblem(code, byte)


def wire_problem(file: BufferedReader, size: int) -> WireProblem | None:
    """What is wrong with a file of `size` bytes; None where its outer structure is sound."""
    try:
        graphs = [(at, end) for number, at, end in _fields(file, 0, size) if number == _GRAPH]
        for at, end in graphs:
            for _ in _fields(file, at, end):
                pass
    except _Broken as broken:
        return broken.problem
    return None if graphs else WireProblem("no-graph", size)


def _fields(file: BufferedReader, at: int, end: int) -> list[tuple[int, int, int]]:
    """Number, first byte and end of each field with a length. Raises _Broken."""
    found: list[tuple[int, int, int]] = []
    count = 0
    while at < end:
        count += 1
        if count > _MOST_FIELDS:
            raise _Broken("too-many-fields", at)
        start = at
        key, at = _varint(file, at, end)
        number, kind = key >> 3, key & 7
        if not number or kind not in (_VARINT, _FIXED64, _LENGTH, _FIXED32):
            raise _Broken("no-protobuf", start)
        if kind == _VARINT:
            _, at = _varint(file, at, end)
        elif kind == _LENGTH:
            length, at = _varint(file, at, end)
            found.append((number, at, at + length))
            at += length
        else:
            at += 8 if kind == _FIXED64 else 4
        if at > end:
            raise _Broken("truncated", start)
    return found


def _varint(file: BufferedReader, at: int, end: int) -> tuple[int, int]:
    """The number, and the byte after it."""
    file.seek(at)
    data = file.read(min(_LONGEST_VARINT, end - at))
    value = 0
    for place, byte in enumerate(data):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise _Broken("truncated" if len(data) < _LONGEST_VARINT else "no-protobuf", at)
