"""Test data sets from arrays: written as the model has them, refused before anything is written."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper

from assay.errors import UsageError
from assay_zoo.data_set import read_arrays, write_data_set
from assay_zoo.functionality.data import _joined

MODEL = """<ir_version: 8, opset_import: ["" : 17]> g (float[n, 3] a, float[n, 3] b) => (float[n, 3] sum) { sum = Add (a, b) }"""
A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    onnx.save(onnx.parser.parse_model(MODEL), str(tmp_path / "model.onnx"))
    return tmp_path


def test_sets_are_numbered_and_outputs_are_those_of_the_model(folder: Path) -> None:
    np.savez(folder / "one.npz", b=A * 2, a=A)
    first = write_data_set(folder, folder / "model.onnx", read_arrays(folder / "one.npz"))
    second = write_data_set(folder, folder / "model.onnx", {"a": A, "b": A, "sum": A})
    assert (first.name, second.name) == ("test_data_set_0", "test_data_set_1")
    tensors = {path.name: onnx.load_tensor(str(path)) for path in first.iterdir()}
    assert {file: tensor.name for file, tensor in tensors.items()} == {
        "input_0.pb": "a",
        "input_1.pb": "b",
        "output_0.pb": "sum",
    }
    assert np.array_equal(numpy_helper.to_array(tensors["output_0.pb"]), A * 3)
    assert np.array_equal(numpy_helper.to_array(onnx.load_tensor(str(second / "output_0.pb"))), A), (
        "what was given stays"
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": A}, "no array for the input b"),
        ({"a": A, "b": A, "summ": A}, "no input or output 'summ'.*sum"),
        ({"a": A, "b": A.astype(np.float64)}, r"b is float64 here, and float32 in the model: .*astype\('float32'\)"),
        ({"a": A, "b": A[0]}, r"b has shape \(3,\) here, and \(n, 3\) in the model"),
        ({"": A}, "the model reads 2 inputs"),
        ({"a": A, "b": A[:, :2]}, r"b has shape \(2, 2\)"),
    ],
)
def test_what_does_not_fit_is_said_and_nothing_is_written(
    folder: Path, arrays: dict[str, np.ndarray], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        write_data_set(folder, folder / "model.onnx", arrays)
    assert not list(folder.glob("test_data_set_*"))


def test_a_file_that_holds_no_numbers(tmp_path: Path) -> None:
    (tmp_path / "x.npz").write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"no .npz or .npy of numbers"):
        read_arrays(tmp_path / "x.npz")
    with pytest.raises(UsageError, match="put it there first"):
        write_data_set(tmp_path, tmp_path / "model.onnx", {})


def _damaged(file: Path) -> None:
    np.savez(file, a=A)
    data = bytearray(file.read_bytes())
    at = data.index(A.tobytes())
    data[at] ^= 0xFF
    file.write_bytes(data)


def _squeezed(file: Path) -> None:
    """Its packed bytes are none that zlib knows."""
    np.savez_compressed(file, a=A)
    data = bytearray(file.read_bytes())
    at = 30 + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
    data[at : at + 8] = b"\xff" * 8
    file.write_bytes(data)


def _one_object(file: Path) -> None:
    with file.open("wb") as opened:
        np.save(opened, np.array([{}, 1]))


def _of_words(file: Path) -> None:
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("read.me", "words")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_damaged, "CRC-32"),
        (_squeezed, "decompressing"),
        (lambda file: np.savez(file, a=np.array([{}, 1])), "Object arrays"),
        (_one_object, "Object arrays"),
        (_of_words, "'read.me' in it is no array"),
        (lambda file: file.write_bytes(b"PK\x03\x04"), "zip"),
    ],
    ids=["damaged", "squeezed", "objects", "one object", "words", "cut off"],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, make: Callable[[Path], Any], message: str) -> None:
    make(tmp_path / "x.npz")
    with pytest.raises(UsageError, match=rf"x.npz is no .npz or .npy of numbers that can be read \(.*{message}"):
        read_arrays(tmp_path / "x.npz")


@pytest.mark.parametrize(
    ("others", "rows"),
    [
        ([{"x": np.arange(1.0, 5.0).reshape(4, 1)}], [0, 1, 2, 3, 4]),
        ([{"x": np.ones((4, 2))}], [0]),
        ([{"x": np.ones((4, 1), np.float32)}], [0]),
        ([{"x": np.ones((1, 1)), "k": np.ones(2)}], [0]),
        ([], [0]),
    ],
    ids=["of one form", "of another shape", "of another type", "of another setting", "none"],
)
def test_batches_are_made_of_rows_of_all_data_sets(others: list[dict[str, np.ndarray]], rows: list[int]) -> None:
    """A regression of one row, repeated, answers the same number in each, and a check of it proves nothing."""
    first = {"x": np.zeros((1, 1)), **({"k": np.zeros(2)} if others and "k" in others[0] else {})}
    joined = _joined([first, *others], {("x", 0)})
    assert joined["x"].reshape(-1).tolist() == rows
    assert joined.keys() == first.keys()


@pytest.mark.parametrize("setting", [np.array([1.0, np.nan]), np.array(np.nan)], ids=["row", "number"])
def test_a_setting_that_holds_nan_is_the_same_in_both(setting: np.ndarray) -> None:
    sets = [{"x": np.full((1, 1), float(row)), "k": setting.copy()} for row in range(2)]
    assert _joined(sets, {("x", 0)})["x"].reshape(-1).tolist() == [0, 1]
    assert _joined(sets[:1], {("x", 0)})["x"].tolist() == [[0]]
