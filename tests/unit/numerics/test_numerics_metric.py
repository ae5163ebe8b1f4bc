"""The comparator as a metric keeps the promises of the port; a metric that breaks any of them is told which."""

import itertools
import warnings

import numpy as np
import pytest

from assay.core.case import Contract
from assay.numerics.metric import closeness
from assay.numerics.metrics import METRICS
from assay.testing.metric_checks import check_metric


def test_closeness_keeps_the_promises():
    check_metric(closeness)


def test_closeness_has_every_figure_and_a_value_for_each_alive_tensor():
    values = np.random.default_rng(0).standard_normal(20)
    found = closeness(values + 1e-9, values, Contract())
    assert set(found) == set(METRICS)
    assert not np.isnan(list(found.values())).any()


def test_closeness_has_no_figure_for_other_shapes():
    assert np.isnan(list(closeness(np.ones(3), np.ones(4), Contract()).values())).all()


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


def raises_on_empty(actual, expected, contract):
    if not actual.size:
        raise IndexError("no element")
    return largest(actual, expected, contract)


def warns(actual, expected, contract):
    np.log(actual.astype(np.float64))
    return largest(actual, expected, contract)


def gives_numpy(actual, expected, contract):
    return {name: np.float32(value) for name, value in largest(actual, expected, contract).items()}


def gives_nothing(actual, expected, contract):
    return {}


def loses_a_name(actual, expected, contract):
    found = largest(actual, expected, contract)
    return found if actual.size else {"largest": found["largest"]}


def writes(actual, expected, contract):
    found = largest(actual, expected, contract)
    if actual.size and actual.dtype == np.float32:
        actual[...] = 7
    return found


def varies(actual, expected, contract):
    return {"largest": float(next(counter))}


def blind_to_nan(actual, expected, contract):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        difference = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
    return {"largest": float(np.nan_to_num(difference).max(initial=0.0))}


def cannot_fail(actual, expected, contract):
    return {"clash": largest(actual, expected, contract)["clash"]}


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        (raises_on_empty, "raises IndexError for empty"),
        (warns, "raises RuntimeWarning"),
        (gives_numpy, "not a float by name"),
        (gives_nothing, "no figure"),
        (loses_a_name, r"has the figures \['largest'\] for empty"),
        (writes, "changes its input"),
        (varies, "for which it gave"),
        (blind_to_nan, "does not see NaN"),
        (cannot_fail, "cannot fail"),
    ],
)
def test_a_broken_promise_is_named(metric, words):
    with pytest.raises(AssertionError, match=words):
        check_metric(metric)
