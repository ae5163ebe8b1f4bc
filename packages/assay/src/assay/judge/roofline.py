"""What one measured operator reaches, beside what the machine can: rates, the roofline's share, caches, layouts."""

from __future__ import annotations

from dataclasses import dataclass

from assay.core.machine import Machine
from assay.core.result import MeasureResult, Result
from assay.stats.summary import mean, median, sd


@dataclass(frozen=True)
class Roofline:
    """Seconds are wall clock of one call; 0 or None where it is not known. `roofline_share` is of what the copy and the
    product of this machine allow an operator of its intensity (Williams, Waterman and Patterson, CACM 52, 2009):
    caches that hold everything may go beyond 1."""

    case: str
    flow: str
    threads: int
    mean_s: float
    deviation: float
    median_s: float
    cold_s: float | None
    channels_last_s: float | None
    elements_per_s: float
    bytes_per_s: float
    flops_per_s: float
    roofline_share: float | None
    moved_bytes: int = 0
    """What one call reads and writes at least."""
    copy_share: float | None = None
    """Of the bytes that a copy moves in a second."""
    cache_misses: float | None = None
    cache_errno: int = 0
    """Why none are counted."""
    wall_over_cpu: float | None = None
    """The mean call over the CPU time of a usual one, on one thread: well above 1 where calls waited, for a core that others
    held or for something else."""


def roofline(result: Result, machine: Machine) -> Roofline | None:
    """Of the first batch size; None for a job without samples."""
    if not isinstance(result, MeasureResult):
        return None
    plain = next(
        (measurement for measurement in result.measurements if not measurement.layout and measurement.wall_s), None
    )
    if plain is None:
        return None
    other = next((measurement for measurement in result.measurements if measurement.layout), None)
    threads, usual, work = int(result.facts.options.get("threads", "1")), median(plain.wall_s), result.work
    flops = work.flops / usual
    moved = work.moved_bytes / usual
    return Roofline(
        result.case,
        result.flow,
        threads,
        mean(plain.wall_s),
        sd(plain.wall_s) / mean(plain.wall_s),
        usual,
        median(plain.cold_s) if plain.cold_s else None,
        median(other.wall_s) if other else None,
        work.elements / usual,
        moved,
        flops,
        _share(flops, moved, machine, threads),
        work.moved_bytes,
        moved / copy if moved and (copy := machine.copy_bytes_per_s.get(threads)) else None,
        work.misses.per_call if threads == 1 else None,
        work.misses.errno,
        mean(plain.wall_s) / median(plain.cpu_s) if threads == 1 and plain.cpu_s and median(plain.cpu_s) else None,
    )


def _share(flops: float, moved: float, machine: Machine, threads: int) -> float | None:
    copy, product = machine.copy_bytes_per_s.get(threads), machine.gemm_flops_per_s.get(threads)
    if not copy or not product or not moved:
        return None
    if not flops:
        return moved / copy
    return flops / min(product, flops / moved * copy)
