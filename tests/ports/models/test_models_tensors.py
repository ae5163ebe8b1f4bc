"""Tensors through a safetensors file and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from assay.core.dtype import numpy_dtype
from assay.errors import BadGolden
from assay.models.tensors import TensorFile, read_tensors, write_tensors

NUMBERS = [
    *("float64", "float32", "float16", "bfloat16", "complex64", "complex128", "bool"),
    *("int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"),
    *("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"),
    *("int4", "uint4", "int2", "uint2"),
]


def same(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> bool:
    """Equal to the last bit: NaN payloads and the sign of zero included."""
    return (
        actual.dtype == expected.dtype
        and actual.shape == expected.shape
        and actual.tobytes(order="C") == expected.tobytes(order="C")
    )


@pytest.mark.parametrize("name", NUMBERS)
def test_every_dtype_survives_to_the_last_bit(name: str, tmp_path: Path) -> None:
    dtype = numpy_dtype(name)
    values = np.abs(np.random.default_rng(0).normal(size=(3, 5)) * 1.5).astype(dtype)
    tensors = {"many": values, "scalar": values[1, 2, ...], "empty": values[:0], "turned": values.T}
    write_tensors(tmp_path / "t", tensors)
    with TensorFile(tmp_path / "t") as file:
        assert {what.dtype for what in file.tensors.values()} == {name}
        assert all(same(file.read(key), array) for key, array in tensors.items())


def test_special_values_survive(tmp_path: Path) -> None:
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 5e-324])
    tensors = {"f64": odd, "f8": odd.astype(ml_dtypes.float8_e5m2), "bf16": odd.astype(ml_dtypes.bfloat16)}
    write_tensors(tmp_path / "t", tensors)
    assert all(same(array, tensors[name]) for name, array in read_tensors(tmp_path / "t").items())


def test_text_survives(tmp_path: Path) -> None:
    text = np.array([["a", "é\0"], [b"\xff\x00", ""]], dtype=object)
    write_tensors(tmp_path / "t", {"objects": text, "unicode": np.array(["yes", "no"]), "scalar": np.array("x")})
    read = read_tensors(tmp_path / "t")
    assert read["objects"].tolist() == text.tolist()
    assert read["unicode"].tolist() == ["yes", "no"]
    assert read["scalar"].shape == ()
    assert {array.dtype for array in read.values()} == {np.dtype(object)}


def test_big_endian_arrays_keep_their_values(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"x": np.arange(4, dtype=">i4")})
    assert read_tensors(tmp_path / "t")["x"].tolist() == [0, 1, 2, 3]


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    tensors = {name: np.zeros(3, numpy_dtype(name)) for name in NUMBERS}
    write_tensors(tmp_path / "one", tensors)
    write_tensors(tmp_path / "two", dict(reversed(tensors.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("array", [np.array([1, None], dtype=object), np.array(["2026-01-01"], "M8[D]")])
def test_what_is_neither_number_nor_text_is_not_written(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(BadGolden):
        write_tensors(tmp_path / "t", {"x": array})


def test_any_truncation_is_seen(tmp_path: Path) -> None:
    write_tensors(tmp_path / "t", {"x": np.ones(3), "y": np.array(["text"], object)})
    whole = (tmp_path / "t").read_bytes()
    for size in range(len(whole)):
        (tmp_path / "cut").write_bytes(whole[:size])
        with pytest.raises(
            BadGolden, match=r"is truncated or no safetensors file; restore it or record the golden again$"
        ):
            read_tensors(tmp_path / "cut")


@pytest.mark.parametrize(
    "note",
    [
        '{"x":{"dtype":"float8_e5m2","shape":[9]}}',
        '{"x":{"dtype":"float8_e5m2","shape":[-1,-8]}}',
        '{"x":{"dtype":"object","shape":[1]}}',
        '{"ghost":{"dtype":"int4","shape":[8]}}',
        "[]",
        "{",
    ],
)
def test_a_note_that_contradicts_the_bytes_is_refused(note: str, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"x": np.zeros(8, np.uint8)}, tmp_path / "t", metadata={"assay": note})
    with pytest.raises(BadGolden, match="is truncated or no safetensors file"):
        TensorFile(tmp_path / "t")
