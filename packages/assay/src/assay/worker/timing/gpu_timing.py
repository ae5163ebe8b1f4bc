"""Samples of an engine on a CUDA device: in blocks, the device looked at before and after each, and timed by its own events."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from assay.core.flow import device_of
from assay.core.gpu import GpuReading
from assay.core.job import MeasureJob
from assay.core.note import Note
from assay.ports import Engine, Tensor
from assay.stats.gpu_blocks import Block, ValidBlocks, own_processes, shared, throttled, valid_blocks
from assay.worker.timing.bound_call import Call, bound_call
from assay.worker.timing.gpu_clock import device_call
from assay.worker.timing.gpu_telemetry import Reader, open_reader, visible

BLOCK_S = 0.05
"""Of calls between two looks: NVML's utilisation is of a sixth of a second at least, its clocks are of the moment."""
CALLS = 512
"""In one block, where they are short: what is discarded is a block."""
LEAST_CALLS = 5
MOST_CALLS = 4096
EVENTS = "cuda events"


@dataclass(frozen=True)
class MonitoredGpu:
    """The device of a job. `first` was read before the engine was there."""

    look: Reader
    untold: Note | None
    first: GpuReading = field(default_factory=GpuReading)


def monitored_gpu(job: MeasureJob) -> MonitoredGpu | None:
    """None for a flow that computes elsewhere."""
    if device_of(job.flow) not in ("cuda", "gpu"):
        return None
    look, untold = open_reader(visible())
    return MonitoredGpu(look, untold, look())


class Timed:
    """One inference a call; `seconds` is what the device spent on the last one, None where only the wall tells."""

    def __init__(self, engine: Engine, feed: Mapping[str, Tensor]) -> None:
        self._timed = device_call(engine, feed)
        self._call: Call = bound_call(engine, feed) if self._timed is None else self._timed
        self.seconds: float | None = None

    @property
    def clock(self) -> str:
        """Empty where the engine does not hand out its stream."""
        return EVENTS if self._timed is not None else ""

    def __call__(self) -> None:
        if self._timed is None:
            self._call()
        else:
            self.seconds = self._timed()


def sample_blocks(call: Timed, watch: MonitoredGpu, budget_s: float) -> ValidBlocks:
    """At least five calls, then until the budget ends or 4,096 of them count. What was taken while the device was held back, or
    shared, is discarded."""
    blocks: list[Block] = []
    made = counting = 0
    end = time.perf_counter() + budget_s
    before = watch.look()
    own = own_processes(os.getpid(), watch.first, before)  # whoever comes later is somebody else
    while made < LEAST_CALLS or (time.perf_counter() < end and counting < MOST_CALLS):
        wall: list[float] = []
        device: list[float] = []
        cpu, block_end = time.process_time(), time.perf_counter() + BLOCK_S
        while not wall or (time.perf_counter() < block_end and len(wall) < CALLS):
            begin = time.perf_counter()
            call()
            wall.append(time.perf_counter() - begin)
            if call.seconds is not None:
                device.append(call.seconds)
        cpu_s = (time.process_time() - cpu) / len(wall)
        after = watch.look()
        blocks.append(Block(tuple(wall), cpu_s, tuple(device), before, after))
        made += len(wall)
        counting += 0 if throttled(blocks[-1]) or shared(blocks[-1], own) else len(wall)
        before = after
    sampled = valid_blocks(blocks, own, clock=call.clock)
    if watch.untold:
        return sampled._replace(record=msgspec.structs.replace(sampled.record, readings=0, untold=watch.untold))
    return sampled
