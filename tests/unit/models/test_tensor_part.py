"""One tensor out of a file of which only some bytes are read: every dtype, and files that say something else than they hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from assay.errors import BadGolden
from assay.models.tensor_part import digests, read_part
from assay.models.tensors import Array, TensorFile, write_tensors

TENSORS: dict[str, Array] = {
    "ids": np.arange(6, dtype=np.int64).reshape(2, 3),
    "half": np.full((3,), 0.1, ml_dtypes.bfloat16),
    "eight": np.full((2, 2), 0.5, ml_dtypes.float8_e4m3fn),
    "bits": np.array([True, False]),
    "nothing": np.zeros((0, 4), np.float32),
    "one": np.array(2.5),
    "words": np.array(["a", "", "ü"], dtype=object),
}


class Counted:
    """A file whose bytes are counted as they are read."""

    def __init__(self, body: bytes) -> None:
        self.body, self.count = body, 0

    def read(self, first: int, last: int) -> bytes:
        self.count += last - first
        return self.body[first:last]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_tensors(tmp_path / "t", TENSORS)
    return tmp_path / "t"


@pytest.mark.parametrize("name", list(TENSORS))
def test_a_part_is_the_tensor_of_the_whole(name: str, file: Path) -> None:
    body = file.read_bytes()
    part = read_part(Counted(body).read, len(body), name)
    with TensorFile(file) as whole:
        expected = whole.read(name)
    assert (part.array.dtype, part.array.shape) == (expected.dtype, expected.shape)
    assert part.array.tolist() == expected.tolist()
    assert part.sha256 == digests(file)[name]


def test_only_the_header_and_its_bytes_are_read(tmp_path: Path) -> None:
    large = np.arange(1_000_000, dtype=np.float32)
    write_tensors(tmp_path / "t", {"large": large, "small": large[:10], "other": large + 1})
    body = (tmp_path / "t").read_bytes()
    counted = Counted(body)
    part = read_part(counted.read, len(body), "small")
    assert part.sha256 == hashlib.sha256(large[:10].tobytes()).hexdigest()
    assert counted.count < 1000
    assert digests(tmp_path / "t")["large"] == hashlib.sha256(large.tobytes()).hexdigest()


def _file(header: object, body: bytes = bytes(16)) -> bytes:
    said = json.dumps(header).encode() if not isinstance(header, bytes) else header
    return len(said).to_bytes(8, "little") + said + body


RIGHT = {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"short",
        (1 << 60).to_bytes(8, "little") + b"{}",
        _file(b"[1]"),
        _file(b"{"),
        _file(b"[" * 100_000),
        _file(b'{"\xff": 1}'),
        _file(b'{"a": ' * 100_000),
        _file(json.dumps({"a": RIGHT, "__metadata__": {"assay": "[" * 100_000}}).encode()),
        _file({"a": RIGHT | {"shape": [1 << 70]}}),
        _file({"a": 3}),
        _file({"a": RIGHT | {"data_offsets": [0, 17]}}),
        _file({"a": RIGHT | {"data_offsets": [-8, 8]}}),
        _file({"a": RIGHT | {"data_offsets": [16, 0]}}),
        _file({"a": RIGHT | {"shape": [5]}}),
        _file({"a": RIGHT | {"dtype": "F7"}}),
        _file({"a": RIGHT, "__metadata__": {"assay": '{"a": 1}'}}),
        _file({"a": RIGHT, "__metadata__": 7}),
        _file({"a": RIGHT, "__metadata__": {"assay": '{"a": {"dtype": "no_such", "shape": [4]}}'}}),
        _file({"b": RIGHT}),
    ],
)
def test_what_is_no_such_file_is_one_sentence(body: bytes) -> None:
    with pytest.raises(BadGolden) as raised:
        read_part(Counted(body).read, len(body), "a")
    assert "\n" not in str(raised.value)
