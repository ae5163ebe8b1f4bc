"""What a service that was started holds in memory while it is loaded: readings beside the load, from a thread of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import fmean

from assay.launch.process_tree import descendants
from assay.launch.tree_memory import MACHINE_BYTES, Parts, parts_of, tree_bytes
from assay.serving.gauges import CACHE_USED, LIVE_BYTES, RUNNING, WAITING, read_gauges
from assay.serving.started import Started

_READINGS = 400
_SHORTEST_S = 0.1
_SKIPPED = 4
"""The first of so many parts of the readings is left out of means: caches fill."""


@dataclass(frozen=True)
class Reading:
    """`second` from the start of the load; `resident` bytes of all processes of the service, and what they are made of; `told` is what
    the service says of itself."""

    second: float
    resident: int
    parts: Parts
    told: dict[str, float] = field(default_factory=dict)


@dataclass
class Readings:
    """As they come, about `_READINGS` of them; none of a service that Assay did not start, and that tells nothing."""

    found: list[Reading] = field(default_factory=list)

    @property
    def resident(self) -> tuple[tuple[float, int], ...]:
        """Seconds from the start, and bytes of all processes."""
        return tuple((reading.second, reading.resident) for reading in self.found if reading.resident)

    def metrics(self) -> dict[str, float]:
        """What was held, and what of it was used, as far as anybody tells."""
        return {**self._held(), **self._told()}

    def _held(self) -> dict[str, float]:
        own = [reading for reading in self.found if reading.resident]
        if not own:
            return {}
        settled = own[len(own) // _SKIPPED :]
        figures = {
            "memory_end_bytes": float(own[-1].resident),
            "memory_high_water_bytes": float(max(reading.parts.high_water for reading in own)),
            "memory_arena_mean_bytes": fmean(reading.parts.anonymous for reading in settled),
            "memory_arena_peak_bytes": float(max(reading.parts.anonymous for reading in own)),
        }
        shares = [
            1.0 - reading.told[LIVE_BYTES] / reading.parts.anonymous
            for reading in settled
            if LIVE_BYTES in reading.told and reading.parts.anonymous
        ]
        if shares:
            figures["memory_live_peak_bytes"] = max(reading.told.get(LIVE_BYTES, 0.0) for reading in own)
            figures["memory_fragmentation_percent"] = 100.0 * fmean(shares)
        return figures

    def _told(self) -> dict[str, float]:
        figures: dict[str, float] = {}
        for name, figure, times in (
            (CACHE_USED, "cache_used_{}_percent", 100.0),
            (RUNNING, "batch_{}", 1.0),
            (WAITING, "queue_{}", 1.0),
        ):
            if seen := [times * reading.told[name] for reading in self.found if name in reading.told]:
                figures[figure.format("mean")] = fmean(seen[len(seen) // _SKIPPED :])
                figures[figure.format("peak")] = max(seen)
        return figures


@contextmanager
def watched_memory(running: Started, seconds: float, gauges: str = "") -> Iterator[Readings]:
    """Readings of its processes, where it was started here, and of `gauges`, an address where it tells of itself."""
    readings = Readings()
    pid = running.process.pid if running.process is not None else 0
    if not pid and not gauges:
        yield readings
        return
    over, began = threading.Event(), time.monotonic()
    every_s = max(_SHORTEST_S, seconds / _READINGS)

    def read() -> None:
        below = descendants(pid) if pid else []
        size = tree_bytes(pid, below, MACHINE_BYTES) if pid else 0
        read_values = read_gauges(gauges) if gauges else {}
        if size or read_values:
            readings.found.append(Reading(time.monotonic() - began, size, parts_of([pid, *below]), read_values))

    def watch() -> None:
        while not over.wait(every_s):
            read()
        read()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield readings
    finally:
        over.set()
        thread.join()
