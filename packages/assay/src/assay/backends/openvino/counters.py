"""What OpenVINO's performance counters say of each call."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any

from assay.backends.openvino.runtime_graph import NAMES
from assay.backends.trace_events import Timed
from assay.core.measurement import OperatorTime

PROFILED_CALLS, PROFILE_S = 20, 0.5
"""What a profile takes at most; two calls at least."""


def counting(compiled: Any) -> dict[str, Any]:
    """The settings of a copy of this compiled model that counts."""
    same = ("INFERENCE_NUM_THREADS", "INFERENCE_PRECISION_HINT")
    return {"PERF_COUNT": True, **{name: compiled.get_property(name) for name in same}}


def counted_calls(run: Callable[[], object], request: Any) -> list[list[Any]]:
    """Of each call the nodes that took time, in the order of the plug-in."""
    calls: list[list[Any]] = []
    end = time.perf_counter() + PROFILE_S
    while len(calls) < PROFILED_CALLS and (len(calls) < 2 or time.perf_counter() < end):
        run()
        calls.append([counter for counter in request.get_profiling_info() if counter.real_time.total_seconds() > 0.0])
    return calls


def operator_medians(calls: Sequence[Sequence[Any]]) -> tuple[OperatorTime, ...]:
    """The median of each node over the calls."""
    taken: dict[tuple[str, str, str], list[float]] = {}
    for call in calls:
        for counter in call:
            taken.setdefault((counter.node_name, counter.node_type, counter.exec_type), []).append(
                counter.real_time.total_seconds()
            )
    return tuple(
        OperatorTime(name, kind, median(seconds), NAMES.get(how.rpartition("_")[2], how))
        for (name, kind, how), seconds in taken.items()
    )


def timed_nodes(call: Sequence[Any]) -> Iterator[Timed]:
    """The nodes of one call, for a timeline."""
    for counter in call:
        yield (
            counter.node_name,
            counter.real_time.total_seconds(),
            {"type": counter.node_type, "kernel": counter.exec_type},
        )
