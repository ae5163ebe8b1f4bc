"""What may lie where a model is looked for: no file, a file of nothing, a file of a gibibyte, and models that are bombs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from assay.testing.broken_models.craft import HEAD, external, relu, text

GIBIBYTE = 1 << 30


def field(number: int, data: bytes) -> bytes:
    """One length-delimited field of protobuf."""
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def _sparse(path: Path, head: bytes = b"", size: int = GIBIBYTE) -> None:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(size)


def _nested(depth: int) -> bytes:
    inner = b""
    for _ in range(depth):
        inner = field(1, field(5, field(6, inner)))  # node, attribute, graph
    return field(7, inner)


def _many_parts(path: Path) -> None:
    """Twenty million bytes of empty nodes, each of which costs a hundred in memory."""
    path.write_bytes(field(7, b"\x0a\x00" * 10_000_000))


def _many_attributes(path: Path) -> None:
    node = b"\x2a\x00" * 5_000_000
    path.write_bytes(field(7, field(1, node)))


def _deep_functions(path: Path) -> None:
    parts = ["g (float[2] x) => (float[2] y) { [a] y = own.F0(x) }\n"]
    for level in range(5000):
        call = f"own.F{level + 1}" if level < 4999 else "Relu"
        parts.append(
            f'<domain: "own", opset_import: ["" : 17, "own" : 1]> F{level} (a) => (b) {{ [p] b = {call}(a) }}\n'
        )
    path.write_bytes(text("".join(parts), HEAD.replace("17]", '17, "own" : 1]')).SerializeToString())


def _wide(path: Path) -> None:
    """A hundred thousand nodes, none of which computes what the next one reads."""
    model = relu()
    for number in range(100_000):
        model.graph.node.add(op_type="Relu", input=[f"v{number + 1}"], output=[f"v{number}"])
    path.write_bytes(model.SerializeToString())


def _external_gibibyte(path: Path) -> None:
    path.write_bytes(external(path.parent, "w.bin", length="24").SerializeToString())
    _sparse(path.parent / "w.bin", bytes(24))


def _loop_of_links(path: Path) -> None:
    path.symlink_to(path.name)


def _name_not_text(path: Path) -> None:
    path.write_bytes(relu().SerializeToString().replace(b"Relu", b"\xff\xfe\xfd\xfc"))


SPECIAL: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "empty": Path.touch,
    "directory": Path.mkdir,
    "pipe": os.mkfifo,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "a-link-to-itself": _loop_of_links,
    "a-long-name": lambda path: path.with_name("m" * 200 + ".onnx").write_bytes(b"x"),
    "zeros-of-a-gibibyte": _sparse,
    "a-model-and-a-gibibyte": lambda path: _sparse(path, relu().SerializeToString()),
    "a-graph-of-a-gibibyte": lambda path: _sparse(path, b"\x3a" + varint(GIBIBYTE - 6)),
    "more-than-protobuf-holds": lambda path: _sparse(path, b"", 3 * GIBIBYTE),
    "a-length-past-the-end": lambda path: path.write_bytes(b"\x3a" + varint(1 << 40) + bytes(16)),
    "a-number-without-end": lambda path: path.write_bytes(b"\xff" * 64),
    "text": lambda path: path.write_bytes(b"hello, world"),
    "json": lambda path: path.write_bytes(b'{"graph": {"node": []}}'),
    "noise": lambda path: path.write_bytes(bytes(range(256)) * 16),
    "nested-30": lambda path: path.write_bytes(_nested(30)),
    "nested-90": lambda path: path.write_bytes(_nested(90)),
    "nested-20000": lambda path: path.write_bytes(_nested(20_000)),
    "many-parts": _many_parts,
    "many-attributes": _many_attributes,
    "deep-functions": _deep_functions,
    "wide-and-unsorted": _wide,
    "external-gibibyte": _external_gibibyte,
    "a-name-that-is-no-text": _name_not_text,
}
"""By name; each is given the path where it shall lie, in a folder of its own."""
