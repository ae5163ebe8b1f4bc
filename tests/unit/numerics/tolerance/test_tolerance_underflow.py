"""Numbers below the normal ones, scaled up again: what every engine loses, and what only one loses that flushes them to zero."""

from __future__ import annotations

import numpy as np
import pytest
from small_graphs import float32, parsed

from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.simulate.underflow import underflown
from assay.ports import Tensor

SCALED = parsed(
    """agraph (float[8] x) => (float[8] y)
    { down = Constant <value_float = 1e-25> () up = Constant <value_float = 1e25> ()
      a = Mul (x, down) b = Mul (a, down) c = Mul (b, up) d = Mul (c, up) y = Add (d, x) }"""
)
X = np.linspace(1e5, 3e6, 8).astype(np.float32)  # in between 1e-45 to 3e-44: some twenty steps of the grid at most


def _used(actual: Tensor, x: Tensor, *, flushed: bool) -> tuple[float, int]:
    profile = derive_model(SCALED, [{"x": x}], "float32")
    answers, counts = underflown(
        SCALED, [{"x": x}], [{"y": actual}], profile.oracle, arithmetic_of("float32"), flushed=flushed
    )
    return judge_outputs(answers, None, profile)["y"].metrics["budget_used"], counts.get("y", 0)


def test_what_every_engine_loses_is_no_error() -> None:
    y = float32(SCALED, {"x": X})["y"]
    profile = derive_model(SCALED, [{"x": X}], "float32")
    assert judge_outputs([{"y": y}], None, profile)["y"].metrics["budget_used"] > 10
    used, count = _used(y, X, flushed=False)
    assert used < 1
    assert count > 0


def test_what_is_flushed_to_zero_is_explained_only_where_that_is_asked() -> None:
    flushed = X.copy()  # d is 0
    assert _used(flushed, X, flushed=False)[0] > 10
    assert _used(flushed, X, flushed=True)[0] < 1


@pytest.mark.parametrize("flushed", [False, True])
def test_what_lies_outside_of_both_is_an_error(flushed: bool) -> None:
    y = float32(SCALED, {"x": X})["y"]
    assert _used(y * np.float32(2), X, flushed=flushed)[0] > 10
    assert _used(X * np.float32(0.5), X, flushed=flushed)[0] > 10


def test_where_no_number_is_small_nothing_is_explained() -> None:
    x = np.linspace(1e14, 3e17, 8).astype(np.float32)
    answers, counts = underflown(
        SCALED, [{"x": x}], [{"y": x}], [{"y": 2.0 * x}], arithmetic_of("float32"), flushed=True
    )
    assert counts == {}
    np.testing.assert_array_equal(answers[0]["y"], x)
