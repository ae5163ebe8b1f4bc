"""Which calls on a GPU count: those of blocks before and after which nothing held it back and nobody else computed on it.

Names and bits are those of NVML's clock event reasons (nvml.h, nvmlClocksEventReasons). Idle clocks and clocks that somebody set
are no slow-down; a power cap, heat and brakes are, and so is a process of somebody else. Such blocks are discarded and
counted, never judged: they say something of the machine and nothing of the engine.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from assay.core.gpu import GpuReading, GpuRecord

REASONS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
THROTTLED = 0x4 | 0x8 | 0x20 | 0x40 | 0x80
SHARED = "foreign_process"


class Block(NamedTuple):
    """Some calls between two readings: seconds of each by the wall and the device, and of CPU time per call of the block."""

    wall_s: tuple[float, ...]
    cpu_s: float
    device_s: tuple[float, ...]
    before: GpuReading
    after: GpuReading


class ValidBlocks(NamedTuple):
    """The samples that count, in the order taken, and what became of the others."""

    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    device_s: tuple[float, ...]
    record: GpuRecord


def reasons_of(bits: int) -> tuple[str, ...]:
    """Their names in the order of the bits; a bit that is not known here is told by its value."""
    known = tuple(name for bit, name in REASONS.items() if bits & bit)
    rest = bits & ~sum(REASONS)
    return (*known, *((f"unknown_{rest:#x}",) if rest else ()))


def own_processes(process: int, before: GpuReading, now: GpuReading) -> frozenset[int]:
    """Which of the processes on the device are this one, whose number is `process`. Inside of a container NVML tells the numbers
    of the host: what was not there `before` this one began to use the device is then taken for it."""
    seen = frozenset(now.processes or ())
    return frozenset({process}) if process in seen else seen - frozenset(before.processes or ())


def valid_blocks(blocks: Sequence[Block], own: frozenset[int] = frozenset(), *, clock: str = "") -> ValidBlocks:
    """`own` are the processes of the measurement itself."""
    kept: list[Block] = []
    discarded: Counter[str] = Counter()
    for block in blocks:
        reasons = [*throttled(block), *([SHARED] if shared(block, own) else [])]
        for reason in reasons:
            discarded[reason] += len(block.wall_s)
        if not reasons:
            kept.append(block)
    readings = [reading for block in blocks for reading in (block.before, block.after)]
    shares = [gpu_reading.sm_share for gpu_reading in readings if gpu_reading.sm_share is not None]
    memory_shares = [gpu_reading.memory_share for gpu_reading in readings if gpu_reading.memory_share is not None]
    bits = [gpu_reading.reasons for gpu_reading in readings if gpu_reading.reasons is not None]
    record = GpuRecord(
        clock=clock,
        readings=len(readings),
        lost=sum(len(block.wall_s) for block in blocks) - sum(len(block.wall_s) for block in kept),
        discarded=dict(discarded),
        sm_mhz=_span(gpu_reading.sm_mhz for gpu_reading in readings),
        memory_mhz=_span(gpu_reading.memory_mhz for gpu_reading in readings),
        reasons=tuple(dict.fromkeys(name for each in bits for name in reasons_of(each))),
        memory_bytes=max((gpu_reading.memory_bytes or 0 for gpu_reading in readings), default=0),
        sm_share=statistics.fmean(shares) if shares else None,
        memory_share=statistics.fmean(memory_shares) if memory_shares else None,
        foreign=tuple(sorted({process for block in blocks for process in shared(block, own)})),
    )
    return ValidBlocks(
        _joined(kept, lambda kept_block: kept_block.wall_s),
        tuple(kept_block.cpu_s for kept_block in kept),
        _joined(kept, lambda kept_block: kept_block.device_s),
        record,
    )


def throttled(block: Block) -> tuple[str, ...]:
    """What slowed the device down before or after these calls."""
    return reasons_of(((block.before.reasons or 0) | (block.after.reasons or 0)) & THROTTLED)


def shared(block: Block, own: frozenset[int]) -> frozenset[int]:
    """Processes of others on the device, before or after these calls."""
    return frozenset((*(block.before.processes or ()), *(block.after.processes or ()))) - own


def _span(values: Iterable[int | None]) -> tuple[int, int] | None:
    known = [value for value in values if value is not None]
    return (min(known), max(known)) if known else None


def _joined(blocks: Sequence[Block], part: Callable[[Block], tuple[float, ...]]) -> tuple[float, ...]:
    return tuple(value for block in blocks for value in part(block))
