"""Bytes that no reader of a file shows, and files that nothing reads though a script has their name."""

from __future__ import annotations

import ast
import base64
import io
import json
import struct
import zlib
from pathlib import Path

import pytest

from assay_zoo.artifacts.code.handed_texts import handed_of
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.opaque_files import opaque_files
from assay_zoo.files.claims import claim_problems
from assay_zoo.files.finding import Item
from assay_zoo.files.picture_end import bytes_behind
from assay_zoo.files.shown_text import text_problem


def _png() -> bytes:
    parts = (b"IHDR", struct.pack(">2I5B", 1, 1, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0\0")), (b"IEND", b"")
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
WEBP = base64.b64decode("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==")
WAV = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x04\0\0\0\x01\0\x02\0"
JPEG = b"\xff\xd8\xff\xe0\x00\x06JFIF\xff\xda\x00\x04ab\x12\xff\x00\x34\xff\xd3\x56\xff\xd9"


@pytest.mark.parametrize(
    "picture", [_png(), GIF, WEBP, WAV, JPEG, JPEG + JPEG], ids=["png", "gif", "webp", "wav", "jpeg", "two jpegs"]
)
def test_bytes_behind_a_picture_are_counted(picture: bytes) -> None:
    for behind in (0, 700):
        data = picture + b"x" * behind
        assert bytes_behind(io.BytesIO(data), len(data)) == behind


def test_a_sound_that_was_written_to_a_pipe_says_no_length() -> None:
    for length in (b"\0\0\0\0", b"\xff\xff\xff\xff"):
        data = WAV[:4] + length + WAV[8:]
        assert bytes_behind(io.BytesIO(data), len(data)) == 0


@pytest.mark.parametrize("cut", [_png()[:-6], GIF[:-2], JPEG[:-2], JPEG[:12]])
def test_a_picture_without_an_end(cut: bytes) -> None:
    assert bytes_behind(io.BytesIO(cut), len(cut)) is None


@pytest.mark.parametrize(("behind", "is_taken"), [(b"", True), (b"\n", True), (b"#!/bin/sh\nid && id && id\n", False)])
def test_a_script_behind_a_picture_is_declined(behind: bytes, is_taken: bool, tmp_path: Path) -> None:
    data = _png() + behind
    assert (claim_problems(_item(tmp_path, "figure.png", data), data) == []) is is_taken


@pytest.mark.parametrize(
    ("ranges", "is_taken"),
    [([], True), ([(0, 4), (4, 8)], True),
     ([(4, 8), (0, 4)], True), ([(0, 4), (104, 108)], False), ([(4, 8)], False), ([(0, 8), (4, 8)], False)],
)  # fmt: skip
def test_tensors_lie_end_to_end(ranges: list[tuple[int, int]], is_taken: bool, tmp_path: Path) -> None:
    header = json.dumps(
        {f"t{at}": {"dtype": "U8", "shape": [4], "data_offsets": pair} for at, pair in enumerate(ranges)}
    )
    data = struct.pack("<Q", len(header)) + header.encode() + bytes(max((end for _, end in ranges), default=0))
    assert (claim_problems(_item(tmp_path, "mean.safetensors", data), data) == []) is is_taken


def test_a_terminal_is_moved_by_one_letter_too(tmp_path: Path) -> None:
    assert text_problem(_item(tmp_path, "notes.txt", "All is well.\x9b2K\rAnother line\n".encode()))


@pytest.mark.parametrize(
    ("code", "is_read"),
    [
        ("TABLE = 'table.bin'", False),
        ("'table.bin'", False),
        ("TABLE, other = 'table.bin', 1\nprint(2)", False),
        ("open('table.bin')", True),
        ("(HERE / 'table.bin').read_bytes()", True),
        ("HERE = 1\nTABLE = HERE / 'table.bin'\nopen(TABLE)", True),
        ("NAME = 'table.bin'\nTABLE = HERE / NAME\nopen(TABLE)", True),
        ("NAMES = ['table.bin']\nfor name in NAMES:\n    open(name)", True),
        ("def load(path='table.bin'):\n    return open(path)", True),
        ("def path():\n    return HERE / 'table.bin'\nopen(path())", True),
        ("self.path = 'table.bin'\nopen(self.path)", True),
    ],
)
def test_a_file_is_read_where_a_call_is_given_its_name(code: str, is_read: bool, tmp_path: Path) -> None:
    (tmp_path / "table.bin").write_bytes(b"import os\n")
    source = SourceText(texts=("table.bin",), handed=handed_of(ast.parse(code)))
    assert (list(opaque_files(tmp_path, [], [], {"preprocess.py": source})) == []) is is_read


def _item(folder: Path, name: str, data: bytes) -> Item:
    (folder / name).write_bytes(data)
    return Item(path=name, copy=str(folder / name))
