"""Ranges of real numbers: computed from the start or added up, in any engine; exact where dyadic numbers are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from small_graphs import budget, parsed

from assay.numerics.tolerance.derive import derive_model
from assay.ports import Tensor

RANGE = "g (float a, float l, float d) => (float[z] y) { y = Range(a, l, d) }"
FORMS: dict[str, Any] = {
    "multiplied": lambda start, delta, count: start + np.arange(count, dtype=np.float32) * delta,
    "added": lambda start, delta, count: np.cumsum(np.array([start, *[delta] * (count - 1)], np.float32)),
}


def _bounds(start: float, limit: float, delta: float) -> dict[str, Tensor]:
    return {name: np.array(value, np.float32) for name, value in zip("ald", (start, limit, delta), strict=True)}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "bounds", [(1.30045, 10.9811, 1.37985), (0.0, 99.95, 0.1), (-3.3, 3.0, 0.7), (5.1, -7.0, -0.3)]
)
def test_either_form_of_a_range_is_right(form: str, bounds: tuple[float, float, float]) -> None:
    feeds = _bounds(*bounds)
    profile = derive_model(parsed(RANGE), [feeds], "float32")
    count = profile.oracle[0]["y"].size
    right = FORMS[form](feeds["a"], feeds["d"], count)
    assert right.dtype == np.float32
    assert budget(profile, {"y": right}) < 1.0
    assert budget(profile, {"y": right * np.float32(1 + 1e-3)}) > 1.0


@pytest.mark.parametrize("form", FORMS)
def test_a_range_of_dyadic_numbers_is_exact(form: str) -> None:
    feeds = _bounds(0.5, 12.0, 0.75)
    profile = derive_model(parsed(RANGE), [feeds], "float32")
    right = FORMS[form](feeds["a"], feeds["d"], profile.oracle[0]["y"].size)
    assert budget(profile, {"y": right}) == 0.0
    assert budget(profile, {"y": np.nextafter(right, np.float32(99))}) > 1.0


def test_what_its_step_is_computed_from_rounds_too() -> None:
    model = parsed(
        """g (float x, float a, float l) => (float[z] y) {
            big = Constant<value_float = 4097.3>()
            sum = Add(x, big)
            d = Sub(sum, big)
            y = Range(a, l, d)
        }"""
    )
    feeds = {"x": np.array(0.71, np.float32), **_bounds(0.0, 9.0, 0.0)}
    del feeds["d"]
    profile = derive_model(model, [feeds], "float32")
    big = np.float32(4097.3)
    step = (feeds["x"] + big) - big
    assert budget(profile, {"y": FORMS["added"](np.float32(0), step, profile.oracle[0]["y"].size)}) < 1.0


def test_a_range_of_whole_numbers_is_exact() -> None:
    model = parsed("g (int64 a, int64 l, int64 d) => (int64[z] y) { y = Range(a, l, d) }")
    feeds = {name: np.array(value) for name, value in zip("ald", (1, 20, 3), strict=True)}
    profile = derive_model(model, [feeds], "float32")
    assert budget(profile, {"y": np.arange(1, 20, 3)}) == 0.0
    assert budget(profile, {"y": np.arange(2, 21, 3)}) > 1.0
