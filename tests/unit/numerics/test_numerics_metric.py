"""The comparator as a metric keeps the promises of the port; a metric that breaks any of them is told which."""

import itertools
import warnings
from fnmatch import fnmatchcase

import numpy as np
import pytest

from assay.core.case import Contract
from assay.core.dtype import dtype_name
from assay.judge.metric_registry import METRICS, direction, unit
from assay.numerics.compare_output import compare_output
from assay.testing.metric_checks import check_metric

GIVEN = (
    "max_abs", "mean_abs", "abs_p50", "abs_p90", "abs_p99", "max_rel", "rmse", "rel_l2", "cosine", "norm_ratio", "sqnr_db",
    "psnr_db", "share_out_of_tolerance", "budget_used",
)  # fmt: skip


class Closeness:
    """The comparator's metrics of one pair of tensors; NaN where a metric has no meaning for these arrays."""

    metrics = {name: (unit(name), direction(name)) for name in GIVEN}

    def __call__(self, actual, expected, contract):
        nothing = dict.fromkeys(GIVEN, float("nan"))
        if actual.shape != expected.shape:
            return nothing
        return (
            nothing | compare_output("", [actual], [expected], contract, dtype_name(expected.dtype), threads=1).metrics
        )


closeness = Closeness()


def stating(metrics=None):
    """A function as a metric that states its metrics."""

    def with_metrics(function):
        function.metrics = {"largest": ("", "up"), "clash": ("", "up")} if metrics is None else metrics
        return function

    return with_metrics


def test_closeness_keeps_the_promises():
    check_metric(closeness)


def test_closeness_has_every_figure_and_a_value_for_each_alive_tensor():
    values = np.random.default_rng(0).standard_normal(20)
    metrics = closeness(values + 1e-9, values, Contract())
    assert set(metrics) == set(GIVEN)
    assert not np.isnan(list(metrics.values())).any()


def test_the_table_of_metrics_has_a_row_for_each():
    assert [name for name in GIVEN if not any(fnmatchcase(name, row.pattern) for row in METRICS)] == []


@stating()
def largest(actual, expected, _contract):
    """A metric without fault: the largest difference, and whether the classes agree."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, e = actual.astype(np.float64), expected.astype(np.float64)
        clash = not np.array_equal(np.where(np.isfinite(a), 0, a), np.where(np.isfinite(e), 0, e), equal_nan=True)
        difference = np.nan_to_num(np.abs(a - e), posinf=0.0)
    return {"largest": float(difference.max(initial=0.0)), "clash": float(clash)}


def test_a_metric_without_fault_passes():
    check_metric(largest)


counter = itertools.count()


@stating()
def raises_on_empty(actual, expected, contract):
    if not actual.size:
        raise IndexError("no element")
    return largest(actual, expected, contract)


@stating()
def warns(actual, expected, contract):
    np.log(actual.astype(np.float64))
    return largest(actual, expected, contract)


@stating()
def gives_numpy(actual, expected, contract):
    return {name: np.float32(value) for name, value in largest(actual, expected, contract).items()}


@stating()
def gives_nothing(actual, expected, contract):
    return {}


@stating()
def loses_a_name(actual, expected, contract):
    metrics = largest(actual, expected, contract)
    return metrics if actual.size else {"largest": metrics["largest"]}


@stating()
def writes(actual, expected, contract):
    metrics = largest(actual, expected, contract)
    if actual.size and actual.dtype == np.float32:
        actual[...] = 7
    return metrics


@stating({"largest": ("", "up")})
def varies(actual, expected, contract):
    return {"largest": float(next(counter))}


@stating({"largest": ("", "up")})
def blind_to_nan(actual, expected, contract):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    return {"largest": float(np.nan_to_num(difference).max(initial=0.0))}


@stating({"clash": ("", "up")})
def cannot_fail(actual, expected, contract):
    return {"clash": largest(actual, expected, contract)["clash"]}


def states_nothing(actual, expected, contract):
    return largest(actual, expected, contract)


@stating({"largest": ("", "upwards"), "clash": ("", "up")})
def states_no_direction(actual, expected, contract):
    return largest(actual, expected, contract)


@stating({"largest": ("", "up")})
def states_too_little(actual, expected, contract):
    return largest(actual, expected, contract)


@stating({"largest": ("", "down"), "clash": ("", "up")})
def states_the_wrong_direction(actual, expected, contract):
    return largest(actual, expected, contract)


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (states_nothing, "has no `metrics`"),
        (states_no_direction, r"states \('', 'upwards'\) of 'largest'"),
        (states_too_little, r"states the metrics \['largest'\], and gives \['clash', 'largest'\]"),
        (states_the_wrong_direction, "states that 'largest' is worse downwards, and it is so of no wrong output"),
        (raises_on_empty, "raises IndexError for empty"),
        (warns, "raises RuntimeWarning"),
        (gives_numpy, "not a float by name"),
        (gives_nothing, "no metric"),
        (loses_a_name, r"has the metrics \['largest'\] for empty"),
        (writes, "changes its input"),
        (varies, "for which it gave"),
        (blind_to_nan, "does not see NaN"),
        (cannot_fail, "cannot fail"),
    ],
)
def test_a_broken_promise_is_named(metric, words):
    with pytest.raises(AssertionError, match=words):
        check_metric(metric)
