"""Which samples calibrate, which are judged: never the same, and always the same ones for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.case import Inputs
from assay.errors import UsageError
from assay.models.calibration_samples import MOST, kept_for_calibration
from assay.worker.inputs.shape_points import format_shapes, shape_points


@given(count=st.integers(2, 5000), seed=st.integers(0, 2**32))
def test_a_quarter_is_kept_and_some_are_left(count: int, seed: int) -> None:
    kept = kept_for_calibration(count, 0, seed, "g")
    assert kept == tuple(sorted(set(kept)))
    assert set(kept) < set(range(count))
    assert len(kept) == min(MOST, max(1, count // 4))
    assert kept == kept_for_calibration(count, 0, seed, "g")


def test_another_seed_keeps_others() -> None:
    assert kept_for_calibration(100, 20, 1, "g") != kept_for_calibration(100, 20, 2, "g")


@pytest.mark.parametrize(("count", "wanted"), [(1, 0), (4, 4), (4, 9)])
def test_none_left_to_judge_is_refused(count: int, wanted: int) -> None:
    plural = "" if count == 1 else "s"
    with pytest.raises(UsageError) as caught:
        kept_for_calibration(count, wanted, 0, "goldens/x")
    assert str(caught.value) == (
        f"goldens/x has {count} sample{plural}, calibration takes {wanted or 1} and leaves none to judge: give more with --inputs "
        "or --golden (a batch is one: put an axis in front, or a file of its own for each)"
        + (", or ask for fewer with --calibration" if wanted else "")
    )


def test_points_go_together_and_come_once() -> None:
    inputs = Inputs(dims={"batch": (1, 4, 16), "length": (8, 8, 8)})
    assert shape_points(inputs) == [
        {"batch": 1, "length": 8},
        {"batch": 4, "length": 8},
        {"batch": 16, "length": 8},
    ]
    assert shape_points(Inputs(dims={"batch": (3, 3, 3)})) == [{"batch": 3}]
    assert shape_points(Inputs()) == []
    assert format_shapes(shape_points(inputs)[1]) == "batch=4, length=8"


def test_listed_sizes_are_run_in_their_order_and_nothing_else() -> None:
    inputs = Inputs(dims={"h": (64, 64, 160), "w": (32, 32, 64)}, sizes={"h": (64, 96, 160), "w": (32, 64)})
    assert shape_points(inputs) == [{"h": 64, "w": 32}, {"h": 96, "w": 64}, {"h": 160, "w": 64}]
