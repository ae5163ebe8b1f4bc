"""From sums to metrics: the metrics of one output."""

from __future__ import annotations

import math

import numpy as np

from assay.numerics import histogram
from assay.numerics.accumulator import Accumulator
from assay.numerics.reference_stats import ReferenceStats

_SHARES = {"abs_p50": 0.5, "abs_p90": 0.9, "abs_p99": 0.99}


def metrics(account: Accumulator, reference: ReferenceStats, total: int) -> dict[str, float]:
    """Metrics by name for `total` elements, over the pairs that are finite on both sides; what each is says the judge's table of metrics.
    One without a meaning is left out; infinite where dB of no error, or an error where none is allowed.

    Quantiles are exact for outputs of at most `accumulator.EXACT` elements, else within an eighth (interpolated in a bin).
    """
    if not total:
        return {}
    figures = {
        "share_out_of_tolerance": (account.outside + account.clashing) / total,
        "budget_used": math.inf if account.clashing else account.budget,
    }
    if not account.pairs:
        return figures
    scale = reference.scale
    energy = reference.squares if account.squared_expected is None else account.squared_expected
    rmse = math.sqrt(account.squared_error / account.pairs)
    figures |= {
        "max_abs": account.max_abs / scale,
        "max_rel": account.max_rel,
        "mean_abs": account.sum_error / account.pairs / scale,
        "rmse": rmse / scale,
        "rel_l2": _ratio(account.squared_error, energy) ** 0.5,
        "cosine": _cosine(account, energy),
        "norm_ratio": _ratio(account.squared_actual, energy) ** 0.5,
        "sqnr_db": _decibel(energy, account.squared_error),
        "psnr_db": 2 * _decibel(reference.peak * scale, rmse),
    }
    figures |= {name: value / scale for name, value in _quantiles(account).items()}
    return {name: value for name, value in figures.items() if not math.isnan(value)}


def _ratio(over: float, under: float) -> float:
    if under == 0.0:
        return math.inf if over else math.nan
    return over / under


def _decibel(signal: float, noise: float) -> float:
    if signal == 0.0:
        return math.nan
    if noise == 0.0:
        return math.inf
    return 10.0 * (math.log10(signal) - math.log10(noise))


def needs_products(account: Accumulator, reference: ReferenceStats) -> bool:
    """Whether the sums so far do not tell everything.

    The energy of the reference is not that of the pairs where a partner was not finite. The error does not tell the
    angle where one norm is more than twice the other: too many digits cancel.
    """
    if account.pairs < reference.finite:
        return True
    return not 0.25 <= _ratio(account.squared_actual, reference.squares) <= 4.0


def _cosine(account: Accumulator, energy: float) -> float:
    """From the error rather than the product where the sides are close: 1 - cosine keeps its digits."""
    left, right = math.sqrt(account.squared_actual), math.sqrt(energy)
    if not left or not right or not math.isfinite(left * right):
        return math.nan
    if account.product is not None:
        return max(-1.0, min(1.0, account.product / left / right))
    # |a - e|^2 = (|a| - |e|)^2 + 2 |a| |e| (1 - cosine)
    apart = (account.squared_error - (left - right) ** 2) / left / right / 2.0
    return max(-1.0, min(1.0, 1.0 - apart))


def _place(size: int, share: float) -> int:
    """Of the inverted distribution function in a sorted array: what numpy.quantile (inverted_cdf) takes, one sort for all."""
    return max(math.ceil(size * share - 1.0), 0)


def _quantiles(account: Accumulator) -> dict[str, float]:
    if account.errors:
        every = np.sort(np.concatenate(account.errors))
        return {name: float(every[_place(every.size, share)]) for name, share in _SHARES.items()}
    if not account.octaves.any():
        return {}
    return {name: histogram.quantile(account.octaves, share, account.max_abs) for name, share in _SHARES.items()}
