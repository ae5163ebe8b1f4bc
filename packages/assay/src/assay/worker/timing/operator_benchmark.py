"""What a benchmark of operators tells besides latency: cold caches, layouts, and the work that one call has to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from assay.core.measurement import OperationCount
from assay.models.flop_count import flops_of
from assay.ports import Tensor

COLD_CALLS = 31
LEAST_COLD_CALLS = 5
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def cold_calls(call: Callable[[], object], budget_s: float) -> tuple[float, ...]:
    """Wall seconds of calls before each of which a buffer as large as the last cache was written and read: what the model
    left there is gone. As many as the budget allows, at least five; emptying counts as well."""
    durations: list[float] = []
    end = time.perf_counter() + budget_s
    while len(durations) < COLD_CALLS and (len(durations) < LEAST_COLD_CALLS or time.perf_counter() < end):
        _evict()
        begin = time.perf_counter()
        call()
        durations.append(time.perf_counter() - begin)
    return tuple(durations)


def work_of(model: Path, feed: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> OperationCount:
    """Bytes are those that must cross memory at least once: inputs, outputs, and the model's own tensors."""
    flops, weight_bytes = flops_of(model, {name: array.shape for name, array in feed.items()})
    moved = sum(array.nbytes for array in (*feed.values(), *outputs.values()))
    return OperationCount(flops, moved + weight_bytes, sum(int(array.size) for array in outputs.values()))


def last_cache_bytes(folder: Path = _CACHES) -> int:
    """Of the largest cache that the system tells of; 32 MiB where it tells of none."""
    sizes = [2**25]
    for path in folder.glob("index*/size"):
        text = path.read_text().strip()
        if text[:-1].isdigit() and text[-1:] in _UNITS:
            sizes.append(int(text[:-1]) * _UNITS[text[-1]])
    return max(sizes)


@cache
def _buffer() -> Tensor:
    # A virtual machine is told of its host's whole cache, of which it has a share: 256 MiB is enough for any of them.
    return np.zeros(min(last_cache_bytes(), 2**28) // 8, np.float64)


def _evict() -> None:
    buffer = _buffer()
    buffer += 1.0
