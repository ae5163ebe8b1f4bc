"""One measurement as the page plots it: raw samples, or the extremes of short stretches where there are very many."""

from __future__ import annotations

import math
from collections.abc import Sequence

from assay.core.gpu import GpuRecord
from assay.core.measurement import Measurement
from assay.judge.words.note_text import note_text
from assay.reports import format as text
from assay.reports.sanitize import one_line
from assay.stats.percentiles import needed, percentile

POINTS = 1500
BINS = 36
LOGARITHMIC_FROM = 8.0
PERCENTILES = (50.0, 90.0, 95.0, 99.0)


def latency(taken: Measurement) -> dict[str, object]:
    """`points` are [sample number, milliseconds]; `lines` are [name, milliseconds, text]; `scale` as in `side_view`."""
    wall_s = [seconds for seconds in taken.wall_s if math.isfinite(seconds)]
    percentiles = {p: percentile(wall_s, p) for p in PERCENTILES}
    figures = [["Samples", str(len(wall_s))]]
    for p, value in percentiles.items():
        name = "Median" if p == 50.0 else f"p{p:g}"
        figures.append([name, text.milliseconds(value) if value is not None else f"needs {needed(p)} samples"])
    cpu = percentile(taken.cpu_s, 50.0)
    figures += [["CPU median", text.milliseconds(cpu)]] if cpu is not None else []
    device = percentile(taken.device_s, 50.0)
    figures += [["Device median", text.milliseconds(device)]] if device is not None else []
    figures += _gpu(taken.gpu) if taken.gpu is not None else []
    if percentiles[50.0]:
        figures.append(["Throughput", f"{text.number(taken.batch / percentiles[50.0])} samples/s"])
    if wall_s:
        figures.append(["Fastest, slowest", f"{text.milliseconds(min(wall_s))}, {text.milliseconds(max(wall_s))}"])
    if taken.warmup_s:
        figures.append(["Warm-up", f"{len(taken.warmup_s)} calls, the first {text.milliseconds(taken.warmup_s[0])}"])
    figures.append(["Stable", "yes" if taken.stable else "no: the time for warming up ended first"])
    points, stretch = extremes(wall_s)
    return {
        "batch": taken.batch,
        "figures": figures,
        "count": len(wall_s),
        "scale": side_view([seconds * 1e3 for seconds in wall_s]),
        "stretch": stretch,
        "points": [[number, float(f"{seconds * 1e3:.5g}")] for number, seconds in points],
        "lines": [
            [name, value * 1e3, text.milliseconds(value)]
            for name, value in (("median", percentiles[50.0]), ("p90", percentiles[90.0]))
            if value is not None
        ],
    }


def _gpu(gpu: GpuRecord) -> list[list[str]]:
    """What NVML told between the calls; a row for each thing that it did."""
    if gpu.untold:
        return [["GPU", one_line(note_text(gpu.untold))]]
    lost = ", ".join(f"{one_line(reason)} {calls}" for reason, calls in gpu.discarded.items())
    rows = [
        ("GPU clocks", _span(gpu.sm_mhz)),
        ("GPU memory clocks", _span(gpu.memory_mhz)),
        ("Moved by", one_line(", ".join(gpu.reasons))),
        ("GPU utilisation", f"{100 * gpu.sm_share:.0f} %" if gpu.sm_share is not None else ""),
        ("GPU memory in use", text.size(gpu.memory_bytes)),
        ("Other processes", ", ".join(map(str, gpu.foreign))),
        ("Calls discarded", f"{gpu.lost} ({lost})" if gpu.lost else "0"),
    ]
    return [[name, value] for name, value in rows if value]


def _span(clocks: tuple[int, int] | None) -> str:
    if clocks is None:
        return ""
    low, high = clocks
    return f"{low} MHz" if low == high else f"{low} to {high} MHz"


def side_view(values: Sequence[float]) -> dict[str, object]:
    """The span of the plot, whether it is logarithmic (a spike would flatten the rest), and counts of all values in it.

    `low` and `high` leave room around the values; `bins` go from low to high, equal on that scale.
    """
    least, greatest = min(values, default=0.0), max(values, default=0.0)
    logarithmic = least > 0 and greatest > LOGARITHMIC_FROM * least
    if logarithmic:
        room = (greatest / least) ** 0.05
        low, high = math.log10(least / room), math.log10(greatest * room)
    else:
        span = 0.06 * (greatest - least) or 0.05 * greatest or 1.0
        low, high = max(0.0, least - span), greatest + span
    bins = [0] * BINS
    for value in values:
        place = math.log10(value) if logarithmic else value
        bins[min(BINS - 1, int((place - low) / (high - low) * BINS))] += 1
    edges = (10**low, 10**high) if logarithmic else (low, high)
    return {"low": edges[0], "high": edges[1], "log": logarithmic, "bins": bins}


def extremes(samples: Sequence[float], limit: int = POINTS) -> tuple[list[tuple[int, float]], int]:
    """(number, sample) of all samples, or of the least and the greatest of every stretch; and how long a stretch is.

    At most `limit` points; no spike is lost, which picking every nth sample would do.
    """
    if len(samples) <= limit:
        return list(enumerate(samples)), 1
    stretch = -(-len(samples) // (limit // 2))
    points = []
    for start in range(0, len(samples), stretch):
        stop = min(start + stretch, len(samples))
        least = min(range(start, stop), key=samples.__getitem__)
        greatest = max(range(start, stop), key=samples.__getitem__)
        points += [(number, samples[number]) for number in sorted({least, greatest})]
    return points, stretch
