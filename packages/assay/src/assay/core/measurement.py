"""What timing an engine found: seconds, bytes, operators."""

from __future__ import annotations

import msgspec

from assay.core.gpu import GpuRecord


class Measurement(msgspec.Struct, frozen=True):
    """Honest samples at one batch size: seconds per call, wall and CPU, in the order taken.

    `warmup_s` are the calls before the clock was believed; `stable` is False where the budget ended first. `cold_s` are
    wall seconds of calls before which the caches were emptied; `layout` how inputs of four axes lay in memory ("" as usual,
    C order, or channels-last). On a CUDA device `gpu` tells what was seen of it, and `device_s` are seconds by its own clock.
    """

    batch: int
    wall_s: tuple[float, ...]
    cpu_s: tuple[float, ...]
    warmup_s: tuple[float, ...] = ()
    stable: bool = True
    cold_s: tuple[float, ...] = ()
    layout: str = ""
    device_s: tuple[float, ...] = ()
    gpu: GpuRecord | None = None


class Memory(msgspec.Struct, frozen=True):
    """Peak resident memory in bytes (VmHWM, reset before each): of the process before loading, of load, of run (the first
    ten calls at each batch size, so that a leak does not count twice). `soak_bytes` is the resident memory after so many
    calls more (`soak_calls`), by turns at each of `soak_batches`: whether it grows. `soak_peak_bytes` is the most of all that time.
    `held_bytes` and `live_bytes` are of the C allocator at the same readings: what it has taken from the system, and what of it is in
    use; none where it does not tell. `loaded_bytes` is what was resident between loading and running."""

    before_bytes: int = 0
    load_peak_bytes: int = 0
    run_peak_bytes: int = 0
    soak_calls: tuple[int, ...] = ()
    soak_bytes: tuple[int, ...] = ()
    loaded_bytes: int = 0
    soak_batches: tuple[int, ...] = ()
    soak_peak_bytes: int = 0
    held_bytes: tuple[int, ...] = ()
    live_bytes: tuple[int, ...] = ()


class OperatorTime(msgspec.Struct, frozen=True):
    """One operator of the engine, as the backend's own profile tells: its name there, its kind, its type ("" unknown),
    and the median wall seconds that it takes in one call."""

    name: str
    operator: str
    seconds: float
    precision: str = ""


class CacheMisses(msgspec.Struct, frozen=True):
    """Of the last cache in one call; None where the kernel counts none, and `errno` says why (0: nobody asked)."""

    per_call: float | None = None
    errno: int = 0


class OperationCount(msgspec.Struct, frozen=True):
    """What one call has to do at least, from the graph: floating operations (a multiplication and an addition are two),
    bytes of inputs, weights and outputs once each, elements of the outputs. 0: not known. `misses` are those of one call on one thread."""

    flops: float = 0.0
    moved_bytes: int = 0
    elements: int = 0
    misses: CacheMisses = CacheMisses()
