"""What an engine's outputs are like, and the quantiles of their relative errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.core.comparison import Comparison
from assay.core.tensor_statistics import TensorStatistics
from assay.worker.verify.output_statistics import statistics_of, with_statistics


def _with(actual: Any, expected: Any, at: str = "") -> Comparison:
    comparison = Comparison("y", "float32", (4,), 1, 4, at=at, metrics={"max_abs": 0.5})
    (with_figures,) = with_statistics([comparison], [{"y": np.asarray(actual)}], [{"y": np.asarray(expected)}])
    return with_figures


def test_the_values_of_all_samples_together() -> None:
    statistics = _with([1.0, 2.0, -3.0, np.nan], [1.0, 2.0, -3.0, np.nan]).actual
    assert statistics == TensorStatistics(-3.0, 2.0, 0.0, pytest.approx(np.std([1, 2, -3])), 1, 0)
    assert statistics_of(np.array([np.inf, -np.inf])) == TensorStatistics(infinities=2)


def test_relative_errors_leave_out_zeros_and_what_is_not_finite() -> None:
    metrics = _with([1.1, 5.0, np.inf, 2.0], [1.0, 0.0, 1.0, 2.0]).metrics
    assert metrics["mean_rel"] == pytest.approx(0.05)
    assert metrics["rel_p50"] == pytest.approx(0.05)
    assert metrics["rel_p99"] == pytest.approx(0.099)
    assert metrics["max_abs"] == 0.5  # the comparator's own stay
    assert "mean_rel" not in _with([1.0], [0.0]).metrics


def test_texts_other_sizes_and_outputs_at_other_places_stay_as_they_are() -> None:
    assert _with(np.array(["a"], object), np.array(["a"], object)).actual is None
    assert _with([1.0], [1.0], at="batch=2").actual is None
    assert "rel_p50" not in _with([1.0, 2.0], [1.0]).metrics
