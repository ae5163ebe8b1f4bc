"""Four-bit integers, and the coarsest of several types."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from assay.backends.packing import pack, unpack
from assay.backends.placements import coarsest, count


@pytest.mark.parametrize("name", ["int4", "uint4"])
@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (3, 4), ()])
def test_round_trip(name: str, shape: tuple[int, ...]) -> None:
    lowest = -8 if name == "int4" else 0
    values = np.random.default_rng(3).integers(lowest, lowest + 16, shape).astype(getattr(ml_dtypes, name))
    packed = pack(values)
    assert packed.nbytes == (values.size + 1) // 2
    back = unpack(packed, name, shape)
    assert back.dtype == values.dtype
    assert back.shape == shape
    assert np.array_equal(back.astype(int), values.astype(int))


def test_low_half_first() -> None:
    assert pack(np.array([1, -2, 3]).astype(ml_dtypes.int4)).tolist() == [0xE1, 0x03]


def test_count_and_coarsest() -> None:
    rows = [
        ("Conv", "cpu", "bfloat16"),
        ("Relu", "cpu", "float32"),
        ("Conv", "cpu", "bfloat16"),
        ("Cast", "cpu", "int8"),
    ]
    placements = count(rows)
    assert [(placement.operator, placement.count) for placement in placements] == [
        ("Cast", 1),
        ("Conv", 2),
        ("Relu", 1),
    ]
    assert coarsest(placements) == "bfloat16"
    assert coarsest(count([("Cast", "cpu", "int8")])) == ""
