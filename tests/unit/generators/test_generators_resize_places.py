"""Where Resize chooses an element by a place that no rounding may touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from assay.generators.resize_places import fractional_length, rounding_decides


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


@pytest.mark.parametrize(
    ("way", "scale", "open_"),
    [
        ("align_corners", 0.75, True),
        ("align_corners", 2.0, False),
        ("asymmetric", 0.75, True),
        ("half_pixel", 1.5, True),
        ("tf_crop_and_resize", 0.75, False),
    ],
)
def test_a_length_that_no_scale_makes_whole(way: str, scale: float, *, open_: bool) -> None:
    values = {"x": np.zeros((1, 7)), "scales": np.asarray([1.0, scale])}
    assert fractional_length(_resize(coordinate_transformation_mode=way), values) is open_


@pytest.mark.parametrize(
    ("policy", "sizes", "open_"),
    [
        ("not_larger", (2, 2), True),
        ("not_smaller", (2, 2), False),
        ("stretch", (2, 2), False),
        ("not_larger", (3, 9), False),
    ],
)
def test_a_scale_that_keeps_the_aspect_ratio(policy: str, sizes: tuple[int, int], *, open_: bool) -> None:
    """Of 6 by 7 that fit into 2 by 2: 2 / 7 of 6 is no length."""
    values = {"x": np.zeros((6, 7) if policy != "not_smaller" else (4, 2)), "sizes": np.asarray(sizes)}
    if sizes == (3, 9):
        values["x"] = np.zeros((6, 8))
    node = onnx.helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], keep_aspect_ratio_policy=policy)
    assert fractional_length(node, values) is open_
