"""A result flattened to named metrics: what goals are about."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from assay.core.comparison import Comparison, StatedMetric, worse_of
from assay.core.measurement import Measurement, Memory
from assay.core.result import (
    ChangeResult,
    CompareSpeedResult,
    EngineResult,
    LoadResult,
    MeasureResult,
    MutationScoreResult,
    Result,
    VerifyResult,
)
from assay.core.result_parts import ComparedResult, comparisons_of, measurements_of
from assay.core.speed import SpeedComparison
from assay.judge.engine_metrics import engine_metrics
from assay.judge.load_metrics import load_metrics
from assay.judge.metric_registry import AGAINST_FLOAT, direction
from assay.judge.words.warnings_text import warning_counts
from assay.stats import percentiles, summary
from assay.stats.slope import slope

PERCENTILES = (90, 95, 99)
RESIDENT_BLUR_BYTES = 2**19
"""The kernel counts resident pages in batches for each core, and allocators take memory in pieces of up to half a mebibyte."""


def metrics(result: Result) -> dict[str, float]:
    """Every metric the result supports, by name; units are in the names. A metric that was not recorded is absent.

    Metrics of outputs appear per output (`logits.max_abs`) and as the worst over all outputs (`max_abs`), sizes of dynamic
    dimensions included; a NaN is the worst of all. Those against the float model stand behind `vs_float.`. A listed name
    wins over that of an output which is called the same.
    """
    named: dict[str, float] = {}
    if isinstance(result, ComparedResult):
        named.update(_per_output(comparison for comparison in result.comparisons if not comparison.at))
        named.update(_worst(result.comparisons))
    match result:
        case VerifyResult() | ChangeResult():
            named.update(_against_float(result.against_float))
            named.update({f"task.{name}": value for name, value in result.task_metrics.items()})
        case MeasureResult():
            named.update(_timing(result.measurements))
            named.update(_gpu(result.measurements))
            named.update(_sizes(result.memory))
            named.update(_growth(result.memory))
            named.update(fragmentation(result.memory))
            named.update(_operators(result))
            named.update(result.kept_metrics)
        case CompareSpeedResult() if result.speeds:
            named.update(_speeds(result))
        case MutationScoreResult():
            named.update(result.scores)
        case LoadResult():
            named.update(load_metrics(result))
    named.update(_stages(result))
    if isinstance(result, EngineResult):
        if result.facts.artifact_bytes > 0:
            named["artifact.bytes"] = float(result.facts.artifact_bytes)
        named.update(engine_metrics(result.facts))
    return named


def _speeds(result: CompareSpeedResult) -> Iterable[tuple[str, float]]:
    """Of the smallest batch size by their plain names, and of each by its own where there are several."""
    speeds = sorted(result.speeds, key=lambda speed: speed.batch)
    yield from ((f"speed.{name}", value) for name, value in _speed(speeds[0]))
    for speed in speeds if len(speeds) > 1 else ():
        yield from ((f"speed.batch{speed.batch}.{name}", value) for name, value in _speed(speed))


def _speed(speed: SpeedComparison) -> Iterable[tuple[str, float]]:
    """Nothing of engines that were compared with themselves: those are compared with samples of another day."""
    if not speed.launches or speed.stored:
        return
    for name in ("cpu", "wall", "load"):
        ratios = [getattr(launch, name) for launch in speed.launches]
        middle = summary.mean(ratios) if name == "cpu" else summary.median(ratios)
        yield f"{'' if name == 'cpu' else name + '_'}slowdown_percent", 100.0 * math.expm1(middle)
    yield "launches", float(len(speed.launches))


def _growth(memory: Memory) -> Iterable[tuple[str, float]]:
    """Bytes per 1,000 inferences, and the ends of the interval (99 %, one slope for each pair of readings), each further out by
    what a reading is blurred over the calls that there were."""
    if not memory.soak_bytes:
        return
    trend = slope([calls / 1000 for calls in memory.soak_calls], memory.soak_bytes)
    if trend is not None:
        blur = RESIDENT_BLUR_BYTES / ((memory.soak_calls[-1] - memory.soak_calls[0]) / 1000)
        yield "memory.growth_bytes", trend.value
        yield "memory.growth_low_bytes", max(0.0, trend.low - blur)
        yield "memory.growth_high_bytes", trend.high + blur


def fragmentation(memory: Memory) -> Iterable[tuple[str, float]]:
    """At the end of the soak: what the allocator holds and nobody uses."""
    if memory.held_bytes and memory.live_bytes:
        held, live = memory.held_bytes[-1], memory.live_bytes[-1]
        yield "memory.fragmentation_share", max(0.0, 1 - live / held)


def _operators(result: MeasureResult) -> Iterable[tuple[str, float]]:
    """Milliseconds of one call by kind of operator, where the backend's profile tells."""
    for kind in sorted({time.operator for time in result.operator_times}):
        seconds = math.fsum(time.seconds for time in result.operator_times if time.operator == kind)
        yield f"operator.{kind}_ms", 1e3 * seconds


def samples_missing(result: Result, metric: str) -> tuple[int, int] | None:
    """(samples needed, samples taken) where a latency was measured, but not often enough for this metric; else None."""
    parts = metric.split(".")
    measurements = measurements_of(result)
    if isinstance(result, MeasureResult) and result.kept_metrics:
        return None
    if parts[0] not in {"latency", "throughput"} or not measurements:
        return None
    name = parts[-1].removeprefix("cpu_").removeprefix("device_")
    need = next((percentiles.needed(p) for p in PERCENTILES if name == f"p{p}_ms"), 0)
    if name in {"median_ms", "mean_ms", "per_s"}:
        need = percentiles.needed(50)
    pooled = _pooled(measurements)
    batch = parts[1].removeprefix("batch") if len(parts) == 3 else str(min(pooled))
    if not batch.isdecimal() or int(batch) not in pooled:
        return None
    taken = len(pooled[int(batch)][0])
    return (need, taken) if taken < need else None


def _per_output(comparisons: Iterable[Comparison]) -> dict[str, float]:
    return {
        f"{comparison.output}.{name}": value for comparison in comparisons for name, value in comparison.metrics.items()
    }


def _against_float(comparisons: Sequence[Comparison]) -> dict[str, float]:
    """What a share of a tolerance would say of the float model is nobody's question: the budget stays out."""
    named = {**_per_output(comparisons), **_worst(comparisons)}
    return {f"{AGAINST_FLOAT}{name}": value for name, value in named.items() if not _of_tolerance(name)}


def _of_tolerance(name: str) -> bool:
    return name.rpartition(".")[2] in {"budget_used", "share_out_of_tolerance"}


def _worst(comparisons: Iterable[Comparison]) -> dict[str, float]:
    worst: dict[str, float] = {}
    for comparison in comparisons:
        for name, value in comparison.metrics.items():
            worst[name] = worse_of(direction(name, comparison.stated), worst[name], value) if name in worst else value
    return worst


def stated_by(result: Result) -> dict[str, StatedMetric]:
    """What plug-ins say of their metrics of that result."""
    return {name: about for comparison in comparisons_of(result) for name, about in comparison.stated.items()}


def _timing(measurements: Sequence[Measurement]) -> dict[str, float]:
    pooled = _pooled(measurements)
    named: dict[str, float] = {}
    for batch, (wall_s, cpu_s, device_s) in pooled.items():
        of_batch = dict(_latencies(batch, wall_s, cpu_s, device_s))
        for name, value in of_batch.items():
            family, _, rest = name.partition(".")
            named[f"{family}.batch{batch}.{rest}"] = value
            if batch == min(pooled):
                named[name] = value
    return named


def _pooled(measurements: Sequence[Measurement]) -> dict[int, tuple[list[float], list[float], list[float]]]:
    """Wall, CPU and device seconds by batch size; several measurements of one size count together."""
    pooled: dict[int, tuple[list[float], list[float], list[float]]] = {}
    for measurement in measurements:
        if measurement.layout:
            continue
        wall_s, cpu_s, device_s = pooled.setdefault(measurement.batch, ([], [], []))
        wall_s.extend(measurement.wall_s)
        cpu_s.extend(measurement.cpu_s)
        device_s.extend(measurement.device_s)
    return pooled


def _latencies(
    batch: int, wall_s: Sequence[float], cpu_s: Sequence[float], device_s: Sequence[float]
) -> Iterable[tuple[str, float]]:
    median_s = percentiles.percentile(wall_s, 50)
    if median_s is not None:
        yield "latency.median_ms", 1e3 * median_s
        yield "latency.mean_ms", 1e3 * summary.mean(wall_s)
        yield "throughput.per_s", summary.throughput(batch, wall_s)
    for p in PERCENTILES:
        value_s = percentiles.percentile(wall_s, p)
        if value_s is not None:
            yield f"latency.p{p}_ms", 1e3 * value_s
    cpu_median_s = percentiles.percentile(cpu_s, 50)
    if cpu_median_s is not None:
        yield "latency.cpu_median_ms", 1e3 * cpu_median_s
    device_median_s = percentiles.percentile(device_s, 50)
    if device_median_s is not None:
        yield "latency.device_median_ms", 1e3 * device_median_s


def _gpu(measurements: Sequence[Measurement]) -> Iterable[tuple[str, float]]:
    """Of all measurements of the job together; what NVML did not tell is absent."""
    records = [measurement.gpu for measurement in measurements if measurement.gpu is not None]
    if not records:
        return
    read_records = [record for record in records if not record.untold]
    if read_records:
        lost = sum(record.lost for record in read_records)
        kept = sum(
            len(measurement.wall_s)
            for measurement in measurements
            if measurement.gpu is not None and not measurement.gpu.untold
        )
        yield "gpu.discarded_share", lost / (lost + kept) if lost + kept else 0.0
    for name in ("sm_mhz", "memory_mhz"):
        spans = [span for record in read_records if (span := getattr(record, name)) is not None]
        if spans:
            yield f"gpu.{name}", float(min(low for low, _ in spans))
    memory = max((record.memory_bytes for record in read_records), default=0)
    if memory:
        yield "gpu.memory_bytes", float(memory)
    for name in ("sm_share", "memory_share"):
        shares = [share for record in read_records if (share := getattr(record, name)) is not None]
        if shares:
            yield f"gpu.{name}", summary.mean(shares)


def _sizes(memory: Memory) -> Iterable[tuple[str, float]]:
    sizes = (
        ("memory.load_peak_bytes", memory.load_peak_bytes),
        ("memory.run_peak_bytes", memory.run_peak_bytes),
        ("memory.settled_bytes", memory.soak_bytes[-1] if memory.soak_bytes else 0),
        ("memory.soak_peak_bytes", memory.soak_peak_bytes),
        ("memory.live_bytes", memory.live_bytes[-1] if memory.live_bytes else 0),
    )
    # Zero bytes is how a record says "not measured": a metric of 0 would pass every limit.
    known = [(name, float(value)) for name, value in sizes if value > 0]
    # An engine may live in memory that the process had before: it adds nothing then, and that is known.
    peaks = {
        "load": (memory.load_peak_bytes, memory.before_bytes),
        "run": (memory.run_peak_bytes, memory.loaded_bytes),
    }
    added = [
        (f"memory.{name}_added_bytes", float(max(0, peak - base)))
        for name, (peak, base) in peaks.items()
        if peak and base
    ]
    return known + added


def _stages(result: Result) -> dict[str, float]:
    named: dict[str, float] = {}
    for time in result.stage_times:
        name = f"stage.{time.stage.value}_s"
        named[name] = named.get(name, 0.0) + time.seconds
    named.update(warning_counts(result))
    named["seconds"] = result.seconds
    return named
