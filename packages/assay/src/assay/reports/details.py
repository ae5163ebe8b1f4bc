"""Every output of every verified flow: what the engine gives, and how far that is from the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from assay.core.comparison import Comparison
from assay.core.result import VerifyResult
from assay.core.tensor_statistics import TensorStatistics
from assay.reports import format as text
from assay.reports.rows import Row
from assay.reports.sanitize import one_line
from assay.reports.used_inputs import built_for, used_inputs

ABSOLUTE = (("max", "max_abs"), ("mean", "mean_abs"), ("p50", "abs_p50"), ("p90", "abs_p90"), ("p99", "abs_p99"))
RELATIVE = (("max", "max_rel"), ("mean", "mean_rel"), ("p50", "rel_p50"), ("p90", "rel_p90"), ("p99", "rel_p99"))

TASK_SHOWN = 40
"""Metrics of a task. A segmentation has one for each class."""


def detail_lines(rows: Sequence[Row]) -> Iterator[str]:
    """For a screen; one block for each case and flow that was compared."""
    for row in rows:
        for entry in row.entries:
            result = entry.result
            if isinstance(result, VerifyResult) and result.comparisons:
                yield ""
                yield f"{one_line(row.case)} | {one_line(row.flow)}"
                yield from (f"  input {one_line(used_inputs(input_facts))}" for input_facts in result.inputs)
                if sizes := built_for(result.facts):
                    yield f"  {one_line(sizes)}"
                for comparison in result.comparisons:
                    yield from _output(comparison)
                if result.task_metrics:
                    yield f"  task  {_task(result.task_metrics)}"


def _output(comparison: Comparison) -> Iterator[str]:
    place = f" at {one_line(comparison.at)}" if comparison.at else ""
    sizes = ", ".join(map(str, comparison.shape))
    yield f"  {one_line(comparison.output)}{place}  {comparison.dtype} [{sizes}], {comparison.samples} samples"
    if comparison.actual is not None:
        yield f"    values          {values(comparison.actual)}"
    metrics = comparison.metrics
    for title, names in (("absolute error", ABSOLUTE), ("relative error", RELATIVE)):
        if line := _ranked(metrics, names):
            yield f"    {title}  {line}"
    rest = [(name, metrics[name]) for name in ("rmse", "cosine", "sqnr_db", "budget_used") if name in metrics]
    if rest:
        yield f"    overall         {', '.join(f'{name} {text.metric(name, value)}' for name, value in rest)}"


def _task(metrics: Mapping[str, float]) -> str:
    shown = [f"{one_line(name)} {text.number(value)}" for name, value in islice(metrics.items(), TASK_SHOWN)]
    return ", ".join([*shown, *([f"and {len(metrics) - TASK_SHOWN} more"] if len(metrics) > TASK_SHOWN else [])])


def values(statistics: TensorStatistics) -> str:
    """`min -1.2, max 3.4, mean 0.1, std 0.5; no NaN, no infinity`."""
    named = (
        ("min", statistics.least),
        ("max", statistics.most),
        ("mean", statistics.mean),
        ("std", statistics.deviation),
    )
    figures = ", ".join(f"{name} {text.number(value)}" for name, value in named)
    nans = f"{statistics.nans} NaN" if statistics.nans else "no NaN"
    infinities = f"{statistics.infinities} infinities" if statistics.infinities else "no infinity"
    return f"{figures}; {nans}, {infinities}"


def _ranked(metrics: Mapping[str, float], names: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{title} {text.number(metrics[name])}" for title, name in names if name in metrics)
