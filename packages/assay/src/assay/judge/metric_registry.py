"""Every metric a goal may speak of: its unit, which direction is bad, and what it means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial

import msgspec

from assay.core.comparison import Direction, StatedMetric
from assay.core.native_warning import WarningCode
from assay.task_metrics.registry import TASK_METRICS

WARNING_MEANING = {
    WarningCode.INITIALIZER_DROPPED: "an initializer that no node uses was dropped",
    WarningCode.NODE_ON_CPU: "nodes that run on the CPU and not on the device",
    WarningCode.FUSION_SKIPPED: "nodes that were not fused or folded",
    WarningCode.PRECISION_LOST: "values or operators in a coarser type than the model has",
    WarningCode.FALLBACK: "a part that runs in another way than it could",
    WarningCode.DEPRECATED: "something that a later version takes away",
    WarningCode.OTHER: "none of the other kinds",
}


class MetricSpec(msgspec.Struct, frozen=True):
    """One row: a name (or a glob), its unit ("" for a pure number), which way is worse, one line of meaning, and the kind of job
    that records it."""

    pattern: str
    unit: str
    worse: Direction
    meaning: str
    recorded_by: str = "verify"


_Measured = partial(MetricSpec, recorded_by="measure")
_Compared = partial(MetricSpec, recorded_by="compare_speed")
_Mutated = partial(MetricSpec, recorded_by="mutation_score")
_Loaded = partial(MetricSpec, recorded_by="load")


_LOAD_FIGURES = (
    MetricSpec("ttft_*_ms", "ms", "up", "time to the first token, from when the request was due: mean, p50, p90, p99"),
    MetricSpec("itl_*_ms", "ms", "up", "time between two tokens"),
    MetricSpec("e2e_*_ms", "ms", "up", "time to the whole answer, from when the request was due"),
    MetricSpec("throughput_per_s", "1/s", "down", "good answers a second"),
    MetricSpec("tokens_per_s", "1/s", "down", "tokens of good answers a second"),
    MetricSpec("goodput_per_s", "1/s", "down", "answers a second that keep every objective"),
    MetricSpec("fairness", "", "down", "Jain's index of the time for a token: 1 where no request waits for others"),
    MetricSpec(
        "answers_differ", "", "up", "share of answers that differ from those of the first combination of a sweep"
    ),
    MetricSpec("requests", "", "down", "requests that were sent"),
    MetricSpec("errors", "", "up", "requests without a good answer"),
    MetricSpec("sender_*", "", "up", "how late the generator was, in ms, and its share of a core"),
    MetricSpec("memory_peak_bytes", "bytes", "up", "most resident memory of the service's processes"),
    MetricSpec("memory_growth_percent", "%", "up", "growth of that in an hour (Sen's slope, behind the first quarter)"),
    MetricSpec("memory_growth_low_percent", "%", "up", "the least that it surely grows (99 %): above 0 it leaks"),
    MetricSpec("memory_growth_high_percent", "%", "up", "the most that it may grow (99 %)"),
    MetricSpec("memory_high_water_bytes", "bytes", "up", "the most that its processes ever held, by the kernel"),
    MetricSpec("memory_end_bytes", "bytes", "up", "resident memory when the last answer was there"),
    MetricSpec("memory_arena_*_bytes", "bytes", "up", "memory of its allocators, without files: mean, peak"),
    MetricSpec("memory_live_peak_bytes", "bytes", "up", "the most of it that the service says it uses"),
    MetricSpec(
        "memory_fragmentation_percent", "%", "up", "share of the allocators' memory that it says it does not use"
    ),
    MetricSpec("cache_used_*_percent", "%", "up", "how full its cache is, as it says: mean, peak"),
    MetricSpec("batch_*", "", "down", "requests under way at once, as it says: mean, peak"),
    MetricSpec("queue_*", "", "up", "requests that wait, as it says: mean, peak"),
)
"""Of a load, at each rate."""


RECORDED = (
    _Measured("latency.median_ms", "ms", "up", "median wall time of one call at the smallest batch (5 samples)"),
    _Measured("latency.mean_ms", "ms", "up", "mean wall time of one call at the smallest batch (5 samples)"),
    _Measured("latency.p90_ms", "ms", "up", "90th percentile (44 samples)"),
    _Measured("latency.p95_ms", "ms", "up", "95th percentile (90 samples)"),
    _Measured("latency.p99_ms", "ms", "up", "99th percentile (459 samples)"),
    _Measured("latency.cpu_median_ms", "ms", "up", "median CPU time of one call, all threads of the process together"),
    _Measured("latency.device_median_ms", "ms", "up", "median time of one call by the CUDA events of its device"),
    _Measured("latency.batch*.median_ms", "ms", "up", "the same at one batch size: latency.batch8.median_ms"),
    _Measured("latency.batch*.mean_ms", "ms", "up", "the same at one batch size"),
    _Measured("latency.batch*.p90_ms", "ms", "up", "the same at one batch size"),
    _Measured("latency.batch*.p95_ms", "ms", "up", "the same at one batch size"),
    _Measured("latency.batch*.p99_ms", "ms", "up", "the same at one batch size"),
    _Measured("latency.batch*.cpu_median_ms", "ms", "up", "the same at one batch size"),
    _Measured("latency.batch*.device_median_ms", "ms", "up", "the same at one batch size"),
    _Measured("throughput.per_s", "1/s", "down", "items per second at the median, at the smallest batch"),
    _Measured("throughput.batch*.per_s", "1/s", "down", "the same at one batch size"),
    _Measured("memory.load_peak_bytes", "bytes", "up", "peak resident memory while the engine was loaded"),
    _Measured("memory.run_peak_bytes", "bytes", "up", "peak resident memory while the engine ran"),
    _Measured("memory.settled_bytes", "bytes", "up", "resident memory after all calls"),
    _Measured("memory.load_added_bytes", "bytes", "up", "the same above what the process held before"),
    _Measured(
        "memory.run_added_bytes", "bytes", "up", "peak of the first ten calls above what was held once it was loaded"
    ),
    _Measured("memory.growth_bytes", "bytes", "up", "growth of resident memory per 1,000 inferences (Sen's slope)"),
    _Measured(
        "memory.growth_low_bytes",
        "bytes",
        "up",
        "the least that it surely grows (99 %), 0 where it may not grow: above 0 it leaks",
    ),
    _Measured("memory.soak_peak_bytes", "bytes", "up", "the most resident memory in all calls of the soak"),
    _Measured("memory.live_bytes", "bytes", "up", "what the C allocator has in use after the soak"),
    _Measured(
        "memory.fragmentation_share", "", "up", "share of what the C allocator holds after the soak that nobody uses"
    ),
    _Measured("memory.growth_high_bytes", "bytes", "up", "the most that it may grow (99 %)"),
    _Measured(
        "gpu.discarded_share", "", "up", "share of the calls that do not count: the GPU was held back, or shared"
    ),
    _Measured("gpu.sm_mhz", "MHz", "down", "the least clock of its multiprocessors between the calls"),
    _Measured("gpu.memory_mhz", "MHz", "down", "the least clock of its memory between the calls"),
    _Measured("gpu.memory_bytes", "bytes", "up", "the most of its memory in use, by everybody"),
    _Measured("gpu.sm_share", "", "down", "mean utilisation of its multiprocessors, by NVML"),
    _Measured("gpu.memory_share", "", "up", "mean share of the time in which its memory was read or written, by NVML"),
    MetricSpec("artifact.bytes", "bytes", "up", "size of what would be deployed"),
    MetricSpec("stage.*_s", "s", "up", "wall time of one stage: stage.lower_s"),
    _Compared(
        "speed.slowdown_percent",
        "%",
        "up",
        "CPU time of one call (of several threads: the caller's time) against the baseline's, mean over launches",
    ),
    _Compared(
        "speed.wall_slowdown_percent", "%", "up", "wall time of one call against the baseline's, median over launches"
    ),
    _Compared(
        "speed.load_slowdown_percent", "%", "up", "wall time of loading against the baseline's, median over launches"
    ),
    _Compared("speed.launches", "", "up", "fresh pairs of engines that were looked at"),
    _Compared(
        "speed.batch*.slowdown_percent",
        "%",
        "up",
        "the same at one batch size of a sweep: speed.batch8.slowdown_percent",
    ),
    _Compared("speed.batch*.wall_slowdown_percent", "%", "up", "the same at one batch size"),
    _Compared("speed.batch*.load_slowdown_percent", "%", "up", "the same at one batch size"),
    _Compared("speed.batch*.launches", "", "up", "the same at one batch size"),
    _Measured(
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
    MetricSpec(
        "sparsity.zero_share", "", "down", "share of zeros among the elements of the weights that are multiplied with"
    ),
    MetricSpec(
        "sparsity.two_of_four_share", "", "down", "share of these elements that lie in weights with the 2:4 pattern"
    ),
    MetricSpec("sparsity.kernels", "", "down", "kernels that skip zeros, where the backend tells"),
    MetricSpec("warnings", "", "up", "all warnings while building and running, of the library and of Assay"),
    *(
        MetricSpec(f"warnings.{code.value}", "", "up", f"warnings of the library: {meaning}")
        for code, meaning in WARNING_MEANING.items()
    ),
    MetricSpec("warnings.new", "", "up", "warnings of the library that the baseline had not"),
    MetricSpec("fusions.lost", "", "up", "kernels of the baseline that are not fused any more, by what both executed"),
    MetricSpec("seconds", "s", "up", "wall time of the whole job"),
    _Mutated(
        "mutation.kill_rate", "", "down", "share of the mutants, equivalent ones apart, that the golden set kills"
    ),
    _Mutated("mutation.kill_rate_low", "", "down", "lower end of its 95 % interval (Wilson)"),
    _Mutated("mutation.kill_rate_high", "", "down", "upper end of its 95 % interval (Wilson)"),
    _Mutated("mutation.killed", "", "down", "mutants killed"),
    _Mutated("mutation.survived", "", "up", "mutants that passed and are not equivalent"),
    _Mutated("mutation.equivalent", "", "up", "mutants with bit for bit the same outputs on all inputs tried"),
    _Mutated("mutation.unbuilt", "", "up", "mutants that the backend does not build"),
    _Mutated("mutation.untried", "", "up", "cases that fail without any mutant, or of which none can be made"),
    _Mutated(
        "mutation.*.kill_rate",
        "",
        "down",
        "the same of one kind: mutation.drop-bias.kill_rate, mutation.at.Conv.kill_rate",
    ),
    _Mutated("mutation.*.kill_rate_low", "", "down", "lower end of its 95 % interval (Wilson)"),
    _Mutated("mutation.*.kill_rate_high", "", "down", "upper end of its 95 % interval (Wilson)"),
    _Mutated("mutation.*.killed", "", "down", "mutants of one kind killed"),
    _Mutated("mutation.*.survived", "", "up", "the same that passed and are not equivalent"),
    _Mutated("mutation.*.equivalent", "", "up", "the same with bit for bit the same outputs on all inputs tried"),
    _Mutated("mutation.*.unbuilt", "", "up", "the same that the backend does not build"),
    *(
        _Loaded(f"load.{at}{row.pattern}", row.unit, row.worse, f"{row.meaning}{which}")
        for at, which in (("", ", at the lowest rate"), ("rate*.", ", at one rate: load.rate20.ttft_p50_ms"))
        for row in _LOAD_FIGURES
    ),
    _Loaded(
        "load.slowdown.*_percent", "%", "up", "a figure against that of the older service, mean over restarts of both"
    ),
    _Loaded("load.slowdown.restarts", "", "down", "restarts of both services that count"),
    _Loaded("load.knee_per_s", "1/s", "down", "the rate of the greatest throughput over latency"),
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
        for metric in TASK_METRICS.values()
        for row in metric.figures
    ),
    MetricSpec("task.*", "", "down", "a score"),
)
"""Of the table of task metrics; a metric that no task has counts as a score."""

NO_LIMIT_OF_ERROR = ("budget*", "noise_share", "coarse_tolerance", "ties", "share_out_of_tolerance", "norm_ratio")
"""Metrics of an output of which no limit says that it is close enough: shares of a tolerance that proves nothing, and a ratio."""

AGAINST_FLOAT = "vs_float."
"""Before a metric of an output: against the model as it was, where transforms changed it (`vs_float.sqnr_db`)."""

_FAMILIES = {row.pattern.split(".")[0]: row.recorded_by for row in RECORDED if "." in row.pattern}
_CLOSED = frozenset(kind.pattern.split(".")[0] for kind in RECORDED if "." in kind.pattern)


@lru_cache(maxsize=4096)
def metric_spec(metric: str) -> MetricSpec | None:
    """The row of a metric of the job or of one output (`logits.max_abs`); None for a metric nobody has listed."""
    for row in RECORDED:
        if fnmatchcase(metric, row.pattern):
            return row
    last = metric.rpartition(".")[2]
    for row in METRICS:
        if fnmatchcase(last, row.pattern):
            return row
    return next((row for row in TASK_FIGURES if fnmatchcase(metric, row.pattern)), None)


def direction(metric: str, stated: Mapping[str, StatedMetric] = {}) -> Direction:
    """Which way is worse: by the table, else as the plug-in that recorded the metric states; "up" for a metric of nobody."""
    if (row := metric_spec(metric)) is not None:
        return row.worse
    about = stated.get(metric.rpartition(".")[2])
    return "up" if about is None else about.worse


def unit(metric: str, stated: Mapping[str, StatedMetric] = {}) -> str:
    """The unit, as written after a number; "" for a pure number."""
    if (row := metric_spec(metric)) is not None:
        return row.unit
    about = stated.get(metric.rpartition(".")[2])
    return "" if about is None else about.unit


def is_unknown(metric: str) -> bool:
    """True where nothing can ever record that name: it starts like a listed family (`latency.`) and is not in it."""
    return metric.split(".")[0] in _CLOSED and "." in metric and metric_spec(metric) is None


def recorded_by(metric: str) -> str:
    """The kind of job that records the metric; of a name that only begins like a listed one that of its family."""
    row = metric_spec(metric)
    return row.recorded_by if row is not None else _FAMILIES.get(metric.split(".")[0], "verify")


def metric_reference(rows: Sequence[MetricSpec]) -> str:
    """A table of the reference, as Markdown."""
    lines = ["| metric | unit | better | what it is |", "|---|---|---|---|"]
    better = {"up": "lower", "down": "higher", "both": "1"}
    lines += [f"| `{row.pattern}` | {row.unit or '-'} | {better[row.worse]} | {row.meaning} |" for row in rows]
    return "\n".join(lines) + "\n"
