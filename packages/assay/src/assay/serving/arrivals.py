"""When requests are sent: an open loop. What comes does not wait for what came before, so that a slow service is not spared."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.errors import UsageError

KINDS = ("poisson", "constant", "burst", "trace")
BURST = 8
"""Requests that come at once."""
MOST = 200_000
"""Requests of one load."""


def arrivals(kind: str, rate: float, seconds: float, *, seed: int = 0, trace: Path | None = None) -> list[float]:
    """Seconds from the start, in order; one seed gives the same on every machine. Raises UsageError."""
    if kind == "trace":
        return _trace(trace, seconds)
    if kind not in KINDS:
        raise UsageError(f"arrivals are one of {', '.join(KINDS)}, not {kind!r}")
    count = round(rate * seconds)
    if not 0 < count <= MOST:
        raise UsageError(f"{rate:g} requests a second for {seconds:g} s are {count} requests; ask for 1 to {MOST}")
    if kind == "constant":
        return [number / rate for number in range(count)]
    if kind == "burst":
        return [number // BURST * BURST / rate for number in range(count)]
    times = np.cumsum(np.random.default_rng(seed).exponential(1.0 / rate, count))
    return [float(time) for time in times if time < seconds]


def _trace(trace: Path | None, seconds: float) -> list[float]:
    if trace is None or not trace.is_file():
        raise UsageError("arrivals of a trace need --trace FILE: the second of each request on a line")
    try:
        times = sorted(float(line) for line in trace.read_text("utf-8").split())
    except ValueError as error:
        raise UsageError(f"{trace}: {error}; write the second of each request on a line") from None
    if not times or not 0 <= times[0] <= times[-1] < float("inf"):
        raise UsageError(f"{trace} holds no times; write the second of each request on a line")
    return [time - times[0] for time in times if time - times[0] <= seconds][:MOST]
