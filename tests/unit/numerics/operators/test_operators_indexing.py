"""Updates have the shape of what they are written to: what engines read beyond them is not theirs."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from assay.core.constraint import ConstraintCode
from assay.numerics.operators.index import onnx_operators
from assay.numerics.shapes.constraints import Conflict, Walk
from assay.numerics.shapes.values import Node, Value, of_data

RANKS, SIZES = ConstraintCode.UPDATE_RANKS, ConstraintCode.UPDATE_SIZES


def _scattered(operator: str, *inputs: Value) -> Value:
    rule = onnx_operators()["", operator].shape
    assert rule is not None
    node = Node(operator, "", "", ("x", "i", "u"), ("y",), {})
    (result,) = rule(node, inputs, cast("Walk", cast("Any", None)))
    return result


@pytest.mark.parametrize(
    ("operator", "shapes", "code"),
    [
        ("ScatterND", ((4, 3), (2, 1), (2,)), RANKS),
        ("ScatterND", ((4, 3), (2, 1), (2, 3, 1)), RANKS),
        ("ScatterND", ((4, 3), (2, 1), (2, 1)), SIZES),
        ("ScatterElements", ((4, 3), (2, 3), (2,)), RANKS),
        ("Scatter", ((4, 3), (2, 3), (2, 1)), SIZES),
    ],
)
def test_a_wrong_rank_and_a_wrong_size_are_conflicts(
    operator: str, shapes: tuple[tuple[int, ...], ...], code: ConstraintCode
) -> None:
    with pytest.raises(Conflict) as raised:
        _scattered(operator, *map(Value, shapes))
    assert raised.value.code is code


def test_what_fits_or_is_not_known_is_none() -> None:
    for operator, shapes in (
        ("ScatterND", ((4, 3), (2, 1), (2, 3))),
        ("ScatterND", ((4, 3), (2,), ())),
        ("ScatterND", ((4, 3), (2, 1), (None, None))),
        ("ScatterND", ((4, 3), (2, 1), None)),
        ("ScatterElements", ((4, 3), (2, 3), (2, 3))),
        ("ScatterElements", ((4, 3), None, (2,))),
        ("TensorScatter", ((4, 3, 2), (4, 1, 2), (4,))),
    ):
        assert _scattered(operator, *map(Value, shapes)).shape == shapes[0]


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (2,)])
def test_constants_are_asked_before_they_are_written(shape: tuple[int, ...]) -> None:
    """numpy repeats a column and has no second row."""
    data, indices = of_data(np.zeros((4, 3), np.int64)), of_data(np.array([[1], [2]]))
    with pytest.raises(Conflict):
        _scattered("ScatterND", data, indices, of_data(np.ones(shape, np.int64)))
    written = _scattered("ScatterND", data, indices, of_data(np.ones((2, 3), np.int64))).data
    assert written is not None
    assert written.tolist() == [[0] * 3, [1] * 3, [1] * 3, [0] * 3]
