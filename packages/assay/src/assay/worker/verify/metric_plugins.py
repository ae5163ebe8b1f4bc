"""The figures of metrics that are plug-ins (group `assay.metrics`), beside the comparator's own."""

from __future__ import annotations

import math
from collections.abc import Mapping

import msgspec
import numpy as np

from assay import plugins
from assay.core.case import Contract
from assay.core.result import Comparison
from assay.errors import BrokenMetric, HarnessError, UnknownName
from assay.ports import Metric
from assay.worker.verify.reference_comparison import Compared, Samples

METRICS = "assay.metrics"


def with_metrics(compared: Compared, actual: Samples, expected: Samples, contract: Contract) -> Compared:
    """Each output with the figures of every metric that is installed, of several samples the largest (NaN above all). A name
    that the comparator has itself stays its own. Raises BrokenMetric."""
    if not plugins.names(METRICS):
        return compared
    metrics = {name: _loaded(name) for name in plugins.names(METRICS)}
    comparisons, findings = compared
    return tuple(_measured(one, metrics, actual, expected, contract) for one in comparisons), findings


def _loaded(name: str) -> Metric:
    try:
        found: Metric = plugins.load(METRICS, name)
    except (HarnessError, UnknownName) as error:
        raise BrokenMetric(str(error)) from error
    return found


def _measured(
    one: Comparison, metrics: Mapping[str, Metric], actual: Samples, expected: Samples, contract: Contract
) -> Comparison:
    found: dict[str, float] = {}
    for ours, theirs in zip(actual, expected, strict=False):
        if one.output not in ours or one.output not in theirs:
            continue
        for name, metric in metrics.items():
            try:
                figures = metric(np.asarray(ours[one.output]), np.asarray(theirs[one.output]), contract)
            except Exception as error:  # a third party's metric may raise anything: named, and raised as ours
                raise BrokenMetric(f"metric '{name}' fails on output '{one.output}' ({error!r}): fix it") from error
            for figure, value in figures.items():
                found[figure] = _larger(found.get(figure, -math.inf), float(value))
    return msgspec.structs.replace(one, metrics=found | one.metrics)


def _larger(one: float, other: float) -> float:
    return max(one, other, key=lambda value: (math.isnan(value), value))
