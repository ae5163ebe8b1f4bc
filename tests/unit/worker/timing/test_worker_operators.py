"""A profile explains a verdict and changes none."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from assay.core.measurement import OperatorTime
from assay.ports import Tensor
from assay.worker.timing.operators import operator_times


class _Broken:
    def operator_times(self, feed: Mapping[str, Tensor]) -> list[OperatorTime]:
        raise KeyError("ts")


def test_a_profile_that_fails_is_told_and_costs_nothing_else() -> None:
    with pytest.warns(UserWarning, match="operators_not_timed .*KeyError"):
        assert operator_times(_Broken(), {"x": np.ones(1)}) == ()  # type: ignore[arg-type]


def test_an_engine_without_a_profile_has_no_times() -> None:
    assert operator_times(object(), {}) == ()  # type: ignore[arg-type]
