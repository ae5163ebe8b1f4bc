"""What every metric must do: call it in the tests of a plug-in."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from assay.core.case import Contract
from assay.core.comparison import Direction, worse_of
from assay.core.dtype import UNIT_ROUNDOFF, numpy_dtype
from assay.numerics.element_types import extremes
from assay.ports import Metric, Tensor

_FLOATS = tuple(name for name in UNIT_ROUNDOFF if name != "tf32")
_WHOLE = ("int8", "uint8", "int32", "int64", "uint64", "int4", "uint4", "bool")
_STRANGERS = (("NaN", math.nan), ("plus infinity", math.inf), ("minus infinity", -math.inf))
_WRONG: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("all zeros", np.zeros_like),
    ("a constant", np.ones_like),
    ("twice the reference", lambda tensor: tensor * 2),
    ("the reference negated", lambda tensor: -tensor),
)


def check_metric(metric: Metric) -> None:
    """Raises AssertionError with a sentence that says which promise of `assay.ports.Metric` was broken.

    The promises: `metrics` states the unit and the worse direction of each metric, and wrong outputs are worse that way; plain
    floats by name, the same names and metrics each time, inputs left as they were; no exception and
    no warning for identical, empty, 0-d, NaN, infinite and extreme tensors of any type; and an output that has a NaN or
    an infinity, and at least one of some grossly wrong outputs, does not look like the reference itself.
    """
    _check_statement(metric)
    expected = np.random.default_rng(0).standard_normal((3, 5), dtype=np.float32)
    same = _figures(metric, expected.copy(), expected, "identical float32")
    again = _figures(metric, expected.copy(), expected, "identical float32")
    assert _equal(same, again), f"The metric gives {dict(again)} for the tensors for which it gave {dict(same)}."
    for what, actual, reference in _pairs():
        figures = _figures(metric, actual, reference, what)
        assert set(figures) == set(same), (
            f"The metric has the metrics {sorted(figures)} for {what}, else {sorted(same)}."
        )
    for name, value in _STRANGERS:
        actual = expected.copy()
        actual[1, 2] = value
        figures = _figures(metric, actual, expected, f"an output with {name}")
        assert not _equal(figures, same), f"The metric does not see {name} in the output."
    wrongs = [(what, _figures(metric, wrong(expected), expected, what)) for what, wrong in _WRONG]
    blind = all(_equal(figures, same) for _, figures in wrongs)
    assert not blind, f"The metric cannot fail: {', '.join(what for what, _ in _WRONG)} look like the reference."
    assert set(same) == set(metric.metrics), (
        f"The metric states the metrics {sorted(metric.metrics)}, and gives {sorted(same)}."
    )
    for name, (_, worse) in metric.metrics.items():
        moved = [
            figures[name] for _, figures in wrongs if figures[name] != same[name] and not math.isnan(figures[name])
        ]
        right = [value for value in moved if worse_of(worse, same[name], value) == value]
        assert right or not moved, (
            f"The metric states that '{name}' is worse {_WORSE[worse]}, and it is so of no wrong output."
        )


_WORSE: Mapping[Direction, str] = {"up": "upwards", "down": "downwards", "both": "away from 1"}


def _check_statement(metric: Metric) -> None:
    assert isinstance(metric, Metric), "The metric has no `metrics`: of each name the unit and which way is worse."
    for name, about in metric.metrics.items():
        fine = isinstance(about, tuple) and len(about) == 2 and isinstance(about[0], str) and about[1] in _WORSE
        assert fine, f"The metric states {about!r} of '{name}', not its unit and up, down or both."


def _pairs() -> Iterator[tuple[str, Tensor, Tensor]]:
    for name in (*_FLOATS, *_WHOLE):
        dtype = numpy_dtype(name)
        low, high = extremes(name)
        values = np.array([0, 1, 1, 0]).astype(dtype)
        yield f"identical {name}", values, values.copy()
        yield f"empty {name}", np.zeros((0, 3), dtype), np.zeros((0, 3), dtype)
        yield f"0-d {name}", values[1].reshape(()), values[0].reshape(())
        yield f"all zero {name}", np.zeros(4, dtype), np.zeros(4, dtype)
        bounds = _bounds(dtype, low, high)
        yield f"the bounds of {name}", bounds, bounds.copy()
        yield f"the opposite bounds of {name}", bounds[::-1], bounds
    for name, value in _STRANGERS:
        strange = np.array([1.0, value, 2.0], np.float32)
        yield f"{name} on both sides", strange, strange.copy()
        yield f"{name} in the reference", np.ones(3, np.float32), strange
        yield f"nothing but {name}", np.full(3, value, np.float32), np.full(3, value, np.float32)


def _bounds(dtype: np.dtype[Any], low: float, high: float) -> Tensor:
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 1], dtype)
    return np.array([low, high, 1.0]).astype(dtype)


def _figures(metric: Metric, actual: Tensor, expected: Tensor, what: str) -> Mapping[str, float]:
    before = actual.copy(), expected.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            figures = metric(actual, expected, Contract())
        except Exception as error:  # whatever a third party raises is the finding
            raise AssertionError(f"The metric raises {type(error).__name__} for {what}: {error}") from error
    for name, value in figures.items():
        fine = isinstance(name, str) and isinstance(value, float)
        assert fine, f"The metric gives {name!r}: {value!r} ({type(value).__name__}) for {what}, not a float by name."
    unchanged = all(old.tobytes() == new.tobytes() for old, new in zip(before, (actual, expected), strict=True))
    assert unchanged, f"The metric changes its input for {what}."
    assert figures, f"The metric has no metric for {what}."
    return figures


def _equal(left: Mapping[str, float], right: Mapping[str, float]) -> bool:
    return left.keys() == right.keys() and np.array_equal(
        [left[name] for name in left], [right[name] for name in left], equal_nan=True
    )
