"""What metrics that are plug-ins give (group `assay.metrics`), beside the comparator's own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from assay import plugins
from assay.core.case import Contract
from assay.core.comparison import Comparison, Direction, StatedMetric, worse_of
from assay.core.note import NoteCode, noted
from assay.errors import BrokenMetric, HarnessError, UnknownName
from assay.ports import Metric
from assay.worker.describe_exception import describe_exception, reason_of
from assay.worker.verify.reference_comparison import Compared, Samples

METRICS = "assay.metrics"


def with_metrics(compared: Compared, actual: Samples, expected: Samples, contract: Contract) -> Compared:
    """Each output with what every metric gives that is installed, of several samples the worst (NaN above all), and with what
    the metric states of them. A name that the comparator has itself stays its own. Raises BrokenMetric."""
    if not plugins.names(METRICS):
        return compared
    metrics = {name: _loaded(name) for name in plugins.names(METRICS)}
    comparisons, findings = compared
    return tuple(_measured(comparison, metrics, actual, expected, contract) for comparison in comparisons), findings


def _loaded(name: str) -> Metric:
    try:
        metric = plugins.load(METRICS, name)
    except (HarnessError, UnknownName) as error:
        raise BrokenMetric(reason_of(error)) from error
    if not isinstance(metric, Metric):
        raise BrokenMetric(noted(NoteCode.METRIC_STATES_NONE, metric=name))
    return metric


def _stated(name: str, metric: Metric) -> dict[str, StatedMetric]:
    try:
        return {
            figure: StatedMetric(*msgspec.convert(about, tuple[str, Direction]))
            for figure, about in metric.metrics.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        raise BrokenMetric(noted(NoteCode.METRIC_STATES_WRONG, metric=name, error=reason_of(error))) from error


def _measured(
    comparison: Comparison, metrics: Mapping[str, Metric], actual: Samples, expected: Samples, contract: Contract
) -> Comparison:
    measured_figures: dict[str, float] = {}
    stated: dict[str, StatedMetric] = {}
    for name, metric in metrics.items():
        stated |= _stated(name, metric)
    for ours, theirs in zip(actual, expected, strict=False):
        if comparison.output not in ours or comparison.output not in theirs:
            continue
        for name, metric in metrics.items():
            try:
                figures = metric(np.asarray(ours[comparison.output]), np.asarray(theirs[comparison.output]), contract)
            except Exception as error:  # a third party's metric may raise anything: named, and raised as ours
                failed = noted(
                    NoteCode.METRIC_FAILED, metric=name, output=comparison.output, error=describe_exception(error)
                )
                raise BrokenMetric(failed) from error
            for figure, value in figures.items():
                if figure not in stated:
                    raise BrokenMetric(noted(NoteCode.METRIC_NOT_STATED, metric=name, figure=figure))
                before = measured_figures.get(figure)
                measured_figures[figure] = (
                    float(value) if before is None else worse_of(stated[figure].worse, before, float(value))
                )
    own = {
        figure: about
        for figure, about in stated.items()
        if figure in measured_figures and figure not in comparison.metrics
    }
    return msgspec.structs.replace(comparison, metrics=measured_figures | comparison.metrics, stated=own)
