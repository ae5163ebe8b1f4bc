"""Honest samples: warm-up until stable, then every call's wall and CPU seconds, and the peaks and the growth of memory."""

from __future__ import annotations

import gc
import json
import shutil
import statistics
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from assay.core.empty_result import empty_result
from assay.core.job import MeasureJob
from assay.core.measurement import Measurement, Memory, OperationCount
from assay.core.outcome import Outcome, Stage
from assay.core.result import MeasureResult
from assay.core.speed import INPUT_TYPES_SUFFIX
from assay.ports import Engine, SelfTimed, Tensor
from assay.worker.engine.lower import Lowered, delegation, load, lower
from assay.worker.inputs.input_facts import input_facts
from assay.worker.inputs.load_inputs import load_golden
from assay.worker.inputs.memory_layout import channels_last
from assay.worker.inputs.rebatch import batch_of, rebatch
from assay.worker.memory import Soak, freed_at_once, peak_bytes, reset_peak, resident_bytes, soak
from assay.worker.stages import Stages
from assay.worker.timing.bound_call import Call, bound_call
from assay.worker.timing.cache_misses import cache_misses
from assay.worker.timing.gpu_timing import MonitoredGpu, Timed, monitored_gpu, sample_blocks
from assay.worker.timing.operator_benchmark import cold_calls, work_of
from assay.worker.timing.operators import operator_times
from assay.worker.timing.traces import keep_trace

WINDOW = 5
"""Calls in each of the two windows whose medians must agree before the clock is believed."""
STABLE = 0.05
MAXIMUM_SAMPLES = 4096
TURN_S = 1e-3
"""Between two readings of the CPU clock, where calls are shorter."""
MINIMUM_SAMPLES = 5
SOAK_SHARE = 0.3
"""Of the seconds of sampling, on top of them, to see whether memory grows."""


def measure(job: MeasureJob, stages: Stages) -> MeasureResult:
    """One engine, loaded once, at every batch size asked for. Raises UsageError for a batch the model cannot take."""
    with freed_at_once():
        golden = load_golden(job)
        inputs, fed = golden.inputs, input_facts(job.case.model, golden)
        del golden
        watch = monitored_gpu(job)
        lowered = lower(job, stages)
        if job.artifact_dir:
            shutil.rmtree(job.artifact_dir, ignore_errors=True)  # what a process left that died in this job
            shutil.copytree(lowered.folder, job.artifact_dir)
            Path(job.artifact_dir + INPUT_TYPES_SUFFIX).write_text(json.dumps(lowered.rewritten.takes))
        feeds = [lowered.rewritten.fed([rebatch(job, inputs, batch)])[0] for batch in job.measuring.batches or (0,)]
        resettable = reset_peak()
        before = resident_bytes()
        engine = load(lowered, job, stages)
    load_peak = peak_bytes() if resettable else 0
    resettable, loaded = reset_peak(), resident_bytes()
    if isinstance(engine, SelfTimed):
        return _by_its_own_clock(job, stages, lowered, engine, feeds)
    peaks: list[int] = []
    with stages.enter(Stage.MEASURE):
        measurements = [_at_batch(engine, job, feed, lambda: peaks.append(peak_bytes()), watch) for feed in feeds]
        run_peak = max(peaks) if resettable else 0
        reset_peak()
        soaked = soak([partial(engine.run, feed) for feed in feeds], SOAK_SHARE * job.measuring.seconds)
        memory = Memory(
            before_bytes=before, load_peak_bytes=load_peak, loaded_bytes=loaded, run_peak_bytes=run_peak,
            soak_batches=tuple(map(batch_of, feeds)), soak_peak_bytes=peak_bytes() if resettable else 0, **_readings(soaked),
        )  # fmt: skip
        times = operator_times(engine, feeds[0])
        traces = keep_trace(engine, feeds[0], job)
        work = OperationCount()
        if job.measuring.thorough:
            measurements += _other_layout(engine, job, feeds[0], watch)
            counted = work_of(lowered.rewritten.model, feeds[0], engine.run(feeds[0]))
            work = msgspec.structs.replace(counted, misses=cache_misses(lambda: engine.run(feeds[0])))
    facts = lowered.facts(engine)
    undelegated = delegation(facts)
    return msgspec.structs.replace(
        empty_result(job, Outcome.UNDELEGATED if undelegated else Outcome.OK),
        ended=undelegated,
        measurements=tuple(measurements),
        memory=memory,
        facts=facts,
        operator_times=times,
        work=work,
        inputs=fed,
        traces=traces,
    )


def _readings(soaked: Soak) -> dict[str, tuple[int, ...]]:
    """Fields of Memory; none of what the system does not tell."""
    read = {"soak_calls": tuple(soaked.calls)}
    if all(soaked.resident):
        read["soak_bytes"] = tuple(soaked.resident)
    if all(soaked.held):
        read |= {"held_bytes": tuple(soaked.held), "live_bytes": tuple(soaked.live)}
    return read


def _by_its_own_clock(
    job: MeasureJob, stages: Stages, lowered: Lowered, engine: SelfTimed, feeds: Sequence[dict[str, Tensor]]
) -> MeasureResult:
    """The engine runs in another process, and only that knows when a call begins: its memory is not this one's either."""
    with stages.enter(Stage.MEASURE):
        taken = [Measurement(batch_of(feed), engine.call_times(feed, job.measuring.seconds), ()) for feed in feeds]
        times = operator_times(engine, feeds[0])
        traces = keep_trace(engine, feeds[0], job)
    facts = lowered.facts(engine)
    return msgspec.structs.replace(
        empty_result(job, Outcome.OK), measurements=tuple(taken), facts=facts, operator_times=times, traces=traces
    )


def _at_batch(
    engine: Engine,
    job: MeasureJob,
    feed: dict[str, Tensor],
    settled: Call,
    watch: MonitoredGpu | None,
    layout: str = "",
) -> Measurement:
    call = bound_call(engine, feed) if watch is None else Timed(engine, feed)
    gc.disable()
    try:
        warmup, stable = _warm_up(call, job.measuring.warmup_s, settled)
        if watch is not None and isinstance(call, Timed):
            sampled = sample_blocks(call, watch, job.measuring.seconds)
            return Measurement(
                batch_of(feed),
                sampled.wall_s,
                sampled.cpu_s,
                warmup,
                stable,
                (),
                layout,
                sampled.device_s,
                sampled.record,
            )
        wall, cpu = sample(call, job.measuring.seconds)
        cold = cold_calls(call, job.measuring.seconds) if job.measuring.thorough else ()
    finally:
        gc.enable()
    return Measurement(batch_of(feed), wall, cpu, warmup, stable, cold, layout)


def _other_layout(
    engine: Engine, job: MeasureJob, feed: dict[str, Tensor], watch: MonitoredGpu | None
) -> list[Measurement]:
    other = channels_last(feed)
    return [_at_batch(engine, job, other, lambda: None, watch, "channels-last")] if other else []


def _warm_up(call: Call, budget_s: float, settled: Call) -> tuple[tuple[float, ...], bool]:
    """Until the medians of the last two windows agree within 5 %, or the budget ends. `settled` is called after the first
    ten calls, or as many as there are: by then an engine has taken the memory that it needs."""
    seconds: list[float] = []
    end = time.perf_counter() + budget_s
    while True:
        begin = time.perf_counter()
        call()
        now = time.perf_counter()
        seconds.append(now - begin)
        if len(seconds) == 2 * WINDOW:
            settled()
        if len(seconds) >= 2 * WINDOW:
            old = statistics.median(seconds[-2 * WINDOW : -WINDOW])
            new = statistics.median(seconds[-WINDOW:])
            if abs(new - old) <= STABLE * old:
                return tuple(seconds[-MAXIMUM_SAMPLES:]), True
        if now > end:
            if len(seconds) < 2 * WINDOW:
                settled()
            return tuple(seconds[-MAXIMUM_SAMPLES:]), False


def sample(call: Call, budget_s: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """At least five calls, then until the budget ends: wall seconds of each, and CPU seconds per call of each turn of about
    a millisecond, because that clock costs a microsecond to read. CPU seconds are the whole process's: backends run in
    threads of their own."""
    wall: list[float] = []
    cpu: list[float] = []
    end = time.perf_counter() + budget_s
    now, usual, repeats = 0.0, 1, 1
    while len(wall) < MINIMUM_SAMPLES or (now < end and len(wall) < MAXIMUM_SAMPLES):
        cpu_begin, begin = time.process_time(), time.perf_counter()
        for _ in range(repeats):
            call()
            now = time.perf_counter()
            wall.append(now - begin)
            begin = now
        cpu.append((time.process_time() - cpu_begin) / repeats)
        if len(cpu) <= WINDOW:
            usual = max(1, round(TURN_S / statistics.median(wall[-WINDOW:])))
        repeats = min(usual, MAXIMUM_SAMPLES - len(wall))
    return tuple(wall), tuple(cpu)
