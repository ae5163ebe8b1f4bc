"""NaN and infinities of a part that ran alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from assay.worker.regions.verify_region import _distance, clash

LOWEST = float(np.finfo(np.float32).min)


@pytest.mark.parametrize(
    ("given", "exact", "kind"),
    [
        ([1.0, math.nan], [1.0, 2.0], "nan"),
        ([1.0, math.inf], [1.0, math.nan], "nan_lost"),
        ([LOWEST], [-math.inf], "lowest"),
        ([math.nan, -math.inf], [math.nan, -math.inf], ""),
        ([1.0], [2.0], ""),
    ],
)
def test_what_no_tolerance_excuses_is_named(given: list[float], exact: list[float], kind: str) -> None:
    assert clash(np.float32(given), np.float64(exact)) == kind


def test_another_infinity_is_no_small_error() -> None:
    assert _distance(np.float32([math.inf]), np.float64([-math.inf])) == math.inf
    assert _distance(np.float32([math.nan, 1.0]), np.float64([math.nan, 1.0])) == 0.0
