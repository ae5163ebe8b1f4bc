"""Limits on the figures of a load: what a user writes, and what each point is worth by them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from assay.core.verdict import VerdictStatus
from assay.errors import UsageError
from assay.serving.load_summary import LoadSummary, is_late
from assay.serving.rising_load import Curve

_LIMIT = re.compile(r"\s*(\w+)\s*(>=|<=)\s*([0-9.eE+-]+)\s*")
Limit = tuple[str, str, float]
"""A figure, <= or >=, and a number."""


def limit_of(text: str) -> Limit:
    parts = _LIMIT.fullmatch(text)
    try:
        limit = float(parts[3]) if parts is not None else math.nan
    except ValueError:
        limit = math.nan
    if parts is None or not math.isfinite(limit):
        raise UsageError(
            f'--require {text!r} is not FIGURE <= NUMBER or FIGURE >= NUMBER; write for example "ttft_p50_ms <= 200"'
        )
    return parts[1], parts[2], limit


def judged(curve: Curve, limits: Sequence[Limit]) -> tuple[VerdictStatus, tuple[str, ...]]:
    """Each point keeps every limit; a figure that its samples do not allow keeps none, and decides nothing. An interval that holds the
    limit is inconclusive. Failed requests fail a point that has no limit on `errors`, and more than half of them any."""
    fails: list[str] = []
    open_: list[str] = []
    for rate, summary in curve.points:
        more, others = _point(summary, limits)
        where = "" if math.isnan(rate) else f"at {rate:g} a second: "
        fails += [where + reason for reason in more]
        open_ += [where + reason for reason in others]
    if curve.skipped:
        rates = ", ".join(f"{rate:g}" for rate in curve.skipped)
        why = "the service ended" if curve.points[-1][1].ended else "more than half failed"
        open_.append(f"not measured, since {why} at a lower rate: {rates} a second")
    word = VerdictStatus.FAIL if fails else VerdictStatus.INCONCLUSIVE if open_ else VerdictStatus.PASS
    return word, (*fails, *open_)


def _point(summary: LoadSummary, limits: Sequence[Limit]) -> tuple[list[str], list[str]]:
    """Why it fails, and what is not decided."""
    fails: list[str] = []
    open_: list[str] = []
    metrics = summary.metrics
    fails += [summary.ended] if summary.ended else []
    errors, requests = metrics.get("errors", 0.0), metrics.get("requests", math.inf)
    kinds = f": {', '.join(summary.errors)}" if summary.errors else ""
    if errors == requests:
        fails.append(f"no request was answered{kinds}")
    elif 2 * errors > requests:
        fails.append(f"more than half of the requests failed, {errors:g} of {requests:g}{kinds}")
    elif errors > 0 and all(name != "errors" for name, _, _ in limits):
        fails.append(f'{errors:g} of {requests:g} requests failed{kinds}; allow some with --require "errors <= NUMBER"')
    if metrics.get("valid") == 0.0:
        return fails, [*open_, "the tool itself calls this run invalid: no limit is decided"]
    if limits and "sender_late_p99_ms" in metrics and is_late(metrics):
        return fails, [*open_, "the sender itself was late: no limit is decided"]
    for name, operator, limit in limits:
        value = metrics.get(name)
        if value is None or math.isnan(value):
            open_.append(f"{name} is not known; there are {', '.join(sorted(metrics))}")
            continue
        low, high = summary.intervals.get(name, (value, value))
        if (low > limit) if operator == "<=" else (high < limit):
            fails.append(f"{name} is {value:.4g}, allowed is {operator} {limit:g}")
        elif (high > limit) if operator == "<=" else (low < limit):
            open_.append(
                f"{name} is {value:.4g} ({low:.4g} to {high:.4g}), too few to decide {operator} {limit:g}: measure longer"
            )
    return fails, open_
