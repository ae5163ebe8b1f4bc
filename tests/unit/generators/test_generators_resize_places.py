"""Where Resize chooses an element by a place that no rounding may touch."""

from __future__ import annotations

from typing import Any

import pytest
from onnx import helper

from assay.generators.resize_places import rounding_decides


def _resize(**attributes: Any) -> Any:
    return helper.make_node("Resize", ["x", "", "scales"], ["y"], **attributes)


@pytest.mark.parametrize(
    ("mode", "nearest", "size", "out", "decides"),
    [
        ("nearest", "floor", 7, 1, True),  # (0 + 0.5) * 7 - 0.5 is 3, and 2.9999998 by a scale in float32
        ("nearest", "floor", 8, 4, False),  # a scale of 0.5 is exact
        ("nearest", "round_prefer_floor", 7, 1, False),
        ("linear", "floor", 7, 1, False),
    ],
)
def test_a_place_where_the_choice_changes(mode: str, nearest: str, size: int, out: int, *, decides: bool) -> None:
    assert rounding_decides(_resize(mode=mode, nearest_mode=nearest), [1, size], [1, out]) is decides
