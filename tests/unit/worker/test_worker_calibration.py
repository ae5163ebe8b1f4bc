"""Which samples calibrate, which are judged: never the same, and always the same ones for the same seed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.worker.calibration import MOST, kept_for_calibration
from assay.worker.sizes import odd_between, points, told


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
        f"golden goldens/x has {count} sample{plural}, calibration takes {wanted or 1} and leaves none to judge: "
        "record more samples with `assay golden record`" + (", or ask for fewer with --calibration" if wanted else "")
    )


@given(least=st.integers(1, 50), more=st.integers(0, 50))
def test_the_middle_is_odd_where_it_can_be(least: int, more: int) -> None:
    middle = odd_between(least, least + more)
    assert least <= middle <= least + more
    assert middle % 2 or (more == 0 and least % 2 == 0)


def test_points_go_together_and_come_once() -> None:
    dims = {"batch": (1, 4, 16), "length": (8, 8, 8)}
    assert points(dims) == [
        {"batch": 1, "length": 8},
        {"batch": 9, "length": 8},
        {"batch": 16, "length": 8},
    ]
    assert points({"batch": (3, 3, 3)}) == [{"batch": 3}]
    assert points({}) == []
    assert told(points(dims)[1]) == "batch=9, length=8"
