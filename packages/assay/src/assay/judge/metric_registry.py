"""Every figure a goal may speak of: its unit, which direction is bad, and what it means."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Literal

import msgspec

from assay.task_metrics.registry import TASK_METRICS

Direction = Literal["up", "down", "both"]
"""Which way is worse. "both": away from 1 in either direction (a ratio)."""


class MetricSpec(msgspec.Struct, frozen=True):
    """One row: a name (or a glob), its unit ("" for a pure number), the bad direction, and one line of meaning."""

    pattern: str
    unit: str
    bad: Direction
    meaning: str


RECORDED = (
    MetricSpec("latency.median_ms", "ms", "up", "median wall time of one call at the smallest batch (5 samples)"),
    MetricSpec("latency.p90_ms", "ms", "up", "90th percentile (44 samples)"),
    MetricSpec("latency.p95_ms", "ms", "up", "95th percentile (90 samples)"),
    MetricSpec("latency.p99_ms", "ms", "up", "99th percentile (459 samples)"),
    MetricSpec("latency.cpu_median_ms", "ms", "up", "median CPU time of one call, all threads of the process together"),
    MetricSpec("latency.device_median_ms", "ms", "up", "median time of one call by the CUDA events of its device"),
    MetricSpec("latency.batch*.median_ms", "ms", "up", "the same at one batch size: latency.batch8.median_ms"),
    MetricSpec("latency.batch*.p90_ms", "ms", "up", "the same at one batch size"),
    MetricSpec("latency.batch*.p95_ms", "ms", "up", "the same at one batch size"),
    MetricSpec("latency.batch*.p99_ms", "ms", "up", "the same at one batch size"),
    MetricSpec("latency.batch*.cpu_median_ms", "ms", "up", "the same at one batch size"),
    MetricSpec("latency.batch*.device_median_ms", "ms", "up", "the same at one batch size"),
    MetricSpec("throughput.per_s", "1/s", "down", "items per second at the median, at the smallest batch"),
    MetricSpec("throughput.batch*.per_s", "1/s", "down", "the same at one batch size"),
    MetricSpec("memory.load_peak_bytes", "bytes", "up", "peak resident memory while the engine was loaded"),
    MetricSpec("memory.run_peak_bytes", "bytes", "up", "peak resident memory while the engine ran"),
    MetricSpec("memory.load_added_bytes", "bytes", "up", "the same above what the process held before"),
    MetricSpec(
        "memory.run_added_bytes", "bytes", "up", "peak of the first ten calls above what was held once it was loaded"
    ),
    MetricSpec("memory.growth_bytes", "bytes", "up", "growth of resident memory per 1,000 inferences (Sen's slope)"),
    MetricSpec(
        "memory.growth_low_bytes",
        "bytes",
        "up",
        "the least that it surely grows (99 %), 0 where it may not grow: above 0 it leaks",
    ),
    MetricSpec("memory.growth_high_bytes", "bytes", "up", "the most that it may grow (99 %)"),
    MetricSpec(
        "gpu.discarded_share", "", "up", "share of the calls that do not count: the GPU was held back, or shared"
    ),
    MetricSpec("gpu.sm_mhz", "MHz", "down", "the least clock of its multiprocessors between the calls"),
    MetricSpec("gpu.memory_mhz", "MHz", "down", "the least clock of its memory between the calls"),
    MetricSpec("gpu.memory_bytes", "bytes", "up", "the most of its memory in use, by everybody"),
    MetricSpec("gpu.sm_share", "", "down", "mean utilisation of its multiprocessors, by NVML"),
    MetricSpec("artifact.bytes", "bytes", "up", "size of what would be deployed"),
    MetricSpec("stage.*_s", "s", "up", "wall time of one stage: stage.lower_s"),
    MetricSpec(
        "duel.slowdown_percent",
        "%",
        "up",
        "CPU time of one call (of several threads: the caller's time) against the rival's, mean over launches",
    ),
    MetricSpec(
        "duel.wall_slowdown_percent", "%", "up", "wall time of one call against the rival's, median over launches"
    ),
    MetricSpec(
        "duel.load_slowdown_percent", "%", "up", "wall time of loading against the rival's, median over launches"
    ),
    MetricSpec("duel.launches", "", "up", "fresh pairs of engines that were looked at"),
    MetricSpec(
        "duel.batch*.slowdown_percent", "%", "up", "the same at one batch size of a sweep: duel.batch8.slowdown_percent"
    ),
    MetricSpec("duel.batch*.wall_slowdown_percent", "%", "up", "the same at one batch size"),
    MetricSpec("duel.batch*.load_slowdown_percent", "%", "up", "the same at one batch size"),
    MetricSpec("duel.batch*.launches", "", "up", "the same at one batch size"),
    MetricSpec(
        "operator.*_ms",
        "ms",
        "up",
        "one call's time in all operators of a kind, where a profile reports it: operator.Conv_ms",
    ),
    MetricSpec("operators", "", "up", "operators of the engine, casts and reformats included"),
    MetricSpec("precision.float*", "", "down", "share of the operators that compute in that type: precision.float16"),
    MetricSpec("precision.bfloat16", "", "down", "the same; casts, reformats, shapes and indices do not count"),
    MetricSpec("precision.tf32", "", "down", "the same"),
    MetricSpec("precision.int*", "", "down", "the same for quantized operators, signed or not: precision.int8"),
    MetricSpec("undelegated", "", "up", "operators that the backend did not take"),
    MetricSpec("delegated", "", "down", "operators (or parts) that a delegate took"),
    MetricSpec("fused", "", "down", "kernels that stand for several operators of the model"),
    MetricSpec("casts", "", "up", "operators that only change type or layout: casts, (de)quantizations, reformats"),
    MetricSpec("warnings", "", "up", "native warnings while building and running"),
    MetricSpec("seconds", "s", "up", "wall time of the whole job"),
    MetricSpec(
        "mutation.kill_rate", "", "down", "share of the mutants, equivalent ones apart, that the golden set kills"
    ),
    MetricSpec("mutation.kill_rate_low", "", "down", "lower end of its 95 % interval (Wilson)"),
    MetricSpec("mutation.kill_rate_high", "", "down", "upper end of its 95 % interval (Wilson)"),
    MetricSpec("mutation.killed", "", "down", "mutants killed"),
    MetricSpec("mutation.survived", "", "up", "mutants that passed and are not equivalent"),
    MetricSpec("mutation.equivalent", "", "up", "mutants with bit for bit the same outputs on all inputs tried"),
    MetricSpec("mutation.unbuilt", "", "up", "mutants that the backend does not build"),
    MetricSpec("mutation.untried", "", "up", "cases that fail without any mutant, or of which none can be made"),
    MetricSpec(
        "mutation.*.kill_rate",
        "",
        "down",
        "the same of one kind: mutation.drop-bias.kill_rate, mutation.at.Conv.kill_rate",
    ),
    MetricSpec("mutation.*.kill_rate_low", "", "down", "lower end of its 95 % interval (Wilson)"),
    MetricSpec("mutation.*.kill_rate_high", "", "down", "upper end of its 95 % interval (Wilson)"),
    MetricSpec("mutation.*.killed", "", "down", "mutants of one kind killed"),
    MetricSpec("mutation.*.survived", "", "up", "the same that passed and are not equivalent"),
    MetricSpec("mutation.*.equivalent", "", "up", "the same with bit for bit the same outputs on all inputs tried"),
    MetricSpec("mutation.*.unbuilt", "", "up", "the same that the backend does not build"),
)

METRICS = (
    MetricSpec("budget_used", "", "up", "error as a share of what is allowed; 1 is the limit of the tolerance"),
    MetricSpec("budget_norm", "", "up", "norm of the error as a share of what rounding explains"),
    MetricSpec("budget_element", "", "up", "the worst element as a share of what rounding explains"),
    MetricSpec("budget_slice", "", "up", "the worst slice of any axis as a share of what rounding explains"),
    MetricSpec("noise_share", "", "up", "noise of a correct flow over the signal; beyond 0.1 a pass proves nothing"),
    MetricSpec("coarse_tolerance", "", "up", "1: judged by a coarse tolerance, so that the budgets are upper bounds"),
    MetricSpec("ties", "", "up", "answers that differ where noise decides"),
    MetricSpec("share_out_of_torch", "", "up", "share of elements that torch's tolerance would fail"),
    MetricSpec("share_out_of_onnx", "", "up", "share of elements that ONNX's tolerance would fail"),
    MetricSpec("max_abs", "", "up", "largest absolute error"),
    MetricSpec("mean_abs", "", "up", "mean absolute error"),
    MetricSpec("max_rel", "", "up", "largest relative error"),
    MetricSpec("mean_rel", "", "up", "mean relative error, where the expected value is not zero"),
    MetricSpec("rel_l2", "", "up", "norm of the error over norm of the reference"),
    MetricSpec("rmse", "", "up", "root of the mean squared error"),
    MetricSpec("cosine", "", "down", "cosine of the angle to the reference"),
    MetricSpec("norm_ratio", "", "both", "norm of the output over norm of the reference; 1 is best"),
    MetricSpec("sqnr_db", "dB", "down", "signal to error ratio"),
    MetricSpec("psnr_db", "dB", "down", "peak of the reference to error ratio"),
    MetricSpec("share_out_of_tolerance", "", "up", "share of elements beyond their tolerance"),
    MetricSpec("rel_p*", "", "up", "quantile of the relative error: rel_p50, rel_p90, rel_p99"),
    MetricSpec("abs_p*", "", "up", "quantile of the absolute error: abs_p50, abs_p90, abs_p99"),
)

TASK_FIGURES = (
    *(
        MetricSpec(f"task.{row.pattern}", row.unit, row.worse, row.meaning)
        for one in TASK_METRICS.values()
        for row in one.figures
    ),
    MetricSpec("task.*", "", "down", "a score"),
)
"""Of the table of task metrics; a figure that no task has counts as a score."""

NO_LIMIT_OF_ERROR = ("budget*", "noise_share", "coarse_tolerance", "ties", "share_out_of_tolerance", "norm_ratio")
"""Metrics of an output of which no limit says that it is close enough: shares of a tolerance that proves nothing, and a ratio."""

AGAINST_FLOAT = "vs_float."
"""Before a metric of an output: against the model as it was, where transforms changed it (`vs_float.sqnr_db`)."""

_CLOSED = frozenset(kind.pattern.split(".")[0] for kind in RECORDED if "." in kind.pattern)


@lru_cache(maxsize=4096)
def metric_spec(figure: str) -> MetricSpec | None:
    """The row of a figure of the job or of one output (`logits.max_abs`); None for a metric nobody has listed."""
    for row in RECORDED:
        if fnmatchcase(figure, row.pattern):
            return row
    last = figure.rpartition(".")[2]
    for row in METRICS:
        if fnmatchcase(last, row.pattern):
            return row
    return next((row for row in TASK_FIGURES if fnmatchcase(figure, row.pattern)), None)


def direction(figure: str) -> Direction:
    """Which direction is bad: "up" (higher is worse, also for a figure that nobody has listed), "down", or "both"."""
    row = metric_spec(figure)
    return "up" if row is None else row.bad


def unit(figure: str) -> str:
    """The unit, as written after a number; "" for a pure number."""
    row = metric_spec(figure)
    return "" if row is None else row.unit


def is_unknown(figure: str) -> bool:
    """True where nothing can ever record that name: it starts like a listed family (`latency.`) and is not in it."""
    return figure.split(".")[0] in _CLOSED and "." in figure and metric_spec(figure) is None


def recorded_by(figure: str) -> str:
    """The task whose job records the figure: measure for time and memory of the engine, mutate for its own, verify for
    the rest."""
    if figure.startswith("mutation."):
        return "mutate"
    if figure.startswith("duel."):
        return "duel"
    return (
        "measure"
        if figure.split(".")[0] in {"latency", "throughput", "memory", "operator", "gpu"} and _measured(figure)
        else "verify"
    )


def _measured(figure: str) -> bool:
    row = metric_spec(figure)
    return row is None or row in RECORDED
