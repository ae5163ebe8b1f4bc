"""Honest samples: warm-up until stable, then every call's wall and CPU seconds, and the peaks of memory."""

from __future__ import annotations

import gc
import shutil
import statistics
import time
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from assay.core.blank import blank_result
from assay.core.job import Job
from assay.core.result import Measurement, Memory, Outcome, Result, Stage
from assay.errors import UsageError
from assay.ports import Engine, Tensor
from assay.worker.lower import delegation, load, lower
from assay.worker.memory import peak_bytes, reset_peak, resident_bytes
from assay.worker.samples import golden_of
from assay.worker.stages import Stages

WINDOW = 5
"""Calls in each of the two windows whose medians must agree before the clock is believed."""
STABLE = 0.05
MAXIMUM_SAMPLES = 4096
MINIMUM_SAMPLES = 5


def measure(job: Job, stages: Stages) -> Result:
    """One engine, loaded once, at every batch size asked for. Raises UsageError for a batch the model cannot take."""
    inputs = golden_of(job).inputs
    lowered = lower(job, stages)
    if job.keep:
        shutil.copytree(lowered.folder, job.keep)
    resettable = reset_peak()
    before = resident_bytes()
    engine = load(lowered, job, stages)
    load_peak = peak_bytes() if resettable else 0
    resettable = reset_peak()
    with stages.enter(Stage.MEASURE):
        inputs = lowered.rewritten.fed(inputs)
        measurements = tuple(_at_batch(engine, job, inputs, batch) for batch in job.measuring.batches or (0,))
    run_peak = peak_bytes() if resettable else 0
    facts = lowered.facts(engine)
    undelegated = delegation(facts)
    return msgspec.structs.replace(
        blank_result(job, Outcome.UNDELEGATED if undelegated else Outcome.OK),
        detail=undelegated,
        measurements=measurements,
        memory=Memory(before, load_peak, run_peak),
        facts=facts,
    )


def _at_batch(engine: Engine, job: Job, inputs: Sequence[dict[str, Tensor]], batch: int) -> Measurement:
    feed = _batched(job, inputs, batch) if batch else inputs[0]
    first = next(iter(feed.values()), np.zeros(1))
    call = lambda: engine.run(feed)  # noqa: E731
    gc.disable()
    try:
        warmup, stable = _warm_up(call, job.measuring.warmup_s)
        wall, cpu = _sample(call, job.measuring.seconds)
    finally:
        gc.enable()
    return Measurement(batch or (first.shape[0] if first.ndim else 1), wall, cpu, warmup, stable)


def _batched(job: Job, inputs: Sequence[dict[str, Tensor]], batch: int) -> dict[str, Tensor]:
    """Samples joined along axis 0, repeated until there are enough."""
    fixed = [spec for spec in job.case.model.inputs if not spec.shape or isinstance(spec.shape[0], int)]
    if fixed and any(spec.shape[:1] != (batch,) for spec in fixed):
        raise UsageError(
            f"batch {batch}: input '{fixed[0].name}' of model '{job.case.model.name}' has the fixed shape "
            f"{list(fixed[0].shape)}; measure a model with a symbolic first dimension, or leave the batch sizes out"
        )
    rows = sum(sample[job.case.model.inputs[0].name].shape[0] for sample in inputs)
    chosen = list(inputs) * -(-batch // max(rows, 1))
    return {name: np.concatenate([sample[name] for sample in chosen])[:batch] for name in inputs[0]}


def _warm_up(call: Callable[[], object], budget_s: float) -> tuple[tuple[float, ...], bool]:
    """Until the medians of the last two windows agree within 5 %, or the budget ends."""
    seconds: list[float] = []
    end = time.perf_counter() + budget_s
    while True:
        begin = time.perf_counter()
        call()
        now = time.perf_counter()
        seconds.append(now - begin)
        if len(seconds) >= 2 * WINDOW:
            old = statistics.median(seconds[-2 * WINDOW : -WINDOW])
            new = statistics.median(seconds[-WINDOW:])
            if abs(new - old) <= STABLE * old:
                return tuple(seconds[-MAXIMUM_SAMPLES:]), True
        if now > end:
            return tuple(seconds[-MAXIMUM_SAMPLES:]), False


def _sample(call: Callable[[], object], budget_s: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """At least five calls, then until the budget ends. CPU seconds are the whole process's: backends run in threads of their own."""
    wall: list[float] = []
    cpu: list[float] = []
    end = time.perf_counter() + budget_s
    while len(wall) < MAXIMUM_SAMPLES:
        cpu_begin, begin = time.process_time(), time.perf_counter()
        call()
        now, cpu_now = time.perf_counter(), time.process_time()
        wall.append(now - begin)
        cpu.append(cpu_now - cpu_begin)
        if now > end and len(wall) >= MINIMUM_SAMPLES:
            break
    return tuple(wall), tuple(cpu)
