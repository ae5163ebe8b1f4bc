"""Whether a file has the outer structure of an ONNX model, and what it holds besides its weights, without reading these: a sparse
file of a gibibyte costs a few kilobytes.

A file of protobuf is a row of fields, each with a key (its number and how it is stored) and mostly a length. ModelProto and the
graph inside it are walked here, key by key; what they hold is left to the parser.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from io import BufferedReader

_GRAPH = 7
"""The number of ModelProto.graph."""
_INITIALIZER = 5
"""That of GraphProto.initializer."""
_SMALL_BYTES = 2**16
"""Of a weight that is read."""
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
        graphs = [(at, end) for number, _, at, end in _fields(file, 0, size) if number == _GRAPH]
        for at, end in graphs:
            for _ in _fields(file, at, end):
                pass
    except _Broken as broken:
        return broken.problem
    return None if graphs else WireProblem("no-graph", size)


def without_weights(file: BufferedReader, size: int) -> bytes | None:
    """The model of a file without the large weights of its graph, which are not read; None where the file is no model."""
    try:
        return b"".join(_kept(file, _fields(file, 0, size)))
    except _Broken:
        return None


def _kept(file: BufferedReader, fields: Iterable[tuple[int, int, int, int]]) -> Iterable[bytes]:
    for number, start, at, end in fields:
        if number == _GRAPH:
            parts = [
                _bytes(file, first, last)
                for part, first, begin, last in _fields(file, at, end)
                if part != _INITIALIZER or last - begin <= _SMALL_BYTES
            ]
            graph = b"".join(parts)
            yield bytes([_GRAPH << 3 | _LENGTH]) + _as_varint(len(graph)) + graph
        else:
            yield _bytes(file, start, end)


def _bytes(file: BufferedReader, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _as_varint(number: int) -> bytes:
    parts = []
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _fields(file: BufferedReader, at: int, end: int) -> list[tuple[int, int, int, int]]:
    """Number (0 for one without a length), first byte, first byte after the length, and end of each field. Raises _Broken."""
    fields: list[tuple[int, int, int, int]] = []
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
            fields.append((0, start, at, at))
        elif kind == _LENGTH:
            length, at = _varint(file, at, end)
            fields.append((number, start, at, at + length))
            at += length
        else:
            at += 8 if kind == _FIXED64 else 4
            fields.append((0, start, at, at))
        if at > end:
            raise _Broken("truncated", start)
    return fields


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
