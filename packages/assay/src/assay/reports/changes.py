"""What changed since the run before, as lines that every report shows: metric, before, after, difference, the values of earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from assay.core.changes import CellChange, MetricDelta, RunChanges
from assay.judge.changes import is_of_a_batch
from assay.judge.lost_fusions import describe_lost_fusion
from assay.judge.metric_registry import direction, unit
from assay.judge.named_metrics import RESIDENT_BLUR_BYTES
from assay.judge.words.warnings_text import grouped_warnings
from assay.reports import format as text
from assay.reports.sanitize import one_line

TITLE = "Against the version before"
HEADER = ("metric", "before", "after", "change", "")
SAME = 0.01
"""Relative change below which a line is not marked, whichever way it goes."""
NO_DECISION = "speed: not measured side by side, so that nothing is decided; --baseline or `assay compare` decides"
BARS = "▁▂▃▄▅▆▇█"
ALWAYS = (
    ("deviation (budget used)", "budget_used"),
    ("largest error", "max_abs"),
    ("latency, mean", "latency.mean_ms"),
    ("latency, p50", "latency.median_ms"),
    ("latency, p90", "latency.p90_ms"),
    ("latency, p99", "latency.p99_ms"),
    ("throughput, at p50", "throughput.per_s"),
    ("peak memory, loading", "memory.load_peak_bytes"),
    ("peak memory, running", "memory.run_peak_bytes"),
    ("settled memory", "memory.settled_bytes"),
    ("memory that loading adds", "memory.load_added_bytes"),
    ("artifact", "artifact.bytes"),
    ("load time", "stage.load_s"),
    ("SM share", "gpu.sm_share"),
    ("memory bandwidth (share of time)", "gpu.memory_share"),
    ("warnings", "warnings"),
)
"""Shown of each cell that was measured or verified, with the reason where a run does not have them."""
_MORE = (
    "task.",
    "vs_float.sqnr_db",
    "precision.",
    "operators",
    "fused",
    "casts",
    "undelegated",
    "delegated",
    "memory.growth_low",
    "memory.fragmentation",
    "sparsity.",
    "load.rate",
    "load.knee",
)
"""Shown where they are there and have changed; of task metrics, always."""
_LABELS = {
    "operators": "operators of the engine",
    "fused": "fused kernels",
    "memory.fragmentation_share": "memory fragmentation (share)",
}
"""Of these; a task metric and the like has its name, by which a goal speaks of it."""
_SECONDS = ("latency.", "throughput.", "stage.")
_NEEDS = {
    "latency.p90_ms": "needs 44 samples",
    "latency.p99_ms": "needs 459 samples",
    "gpu.sm_share": "no GPU that NVML reports",
    "gpu.memory_share": "no GPU that NVML reports",
}


class Line(msgspec.Struct, frozen=True):
    """One metric of one cell. `worse` is 1 where it got worse by more than a percent, -1 where better, else 0: of seconds that were
    not taken side by side nothing is decided. `series` are the values
    of earlier runs and of this one."""

    label: str
    before: str
    after: str
    change: str
    worse: int
    series: tuple[float, ...]

    @property
    def spark(self) -> str:
        """The series as small bars, "" for fewer than three values."""
        return sparkline(self.series)


class Cell(msgspec.Struct, frozen=True):
    """One case on one flow: lines, and sentences on what else is new or gone."""

    case: str
    flow: str
    verdicts: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]


def commits_between(changes: RunChanges) -> str:
    """`3 commits between, the last: abc1234 Subject`; "" where none are known."""
    count = len(changes.commits)
    return (
        f"{count} commit{'s' if count != 1 else ''} between, the last: {one_line(changes.commits[0])}" if count else ""
    )


def facts_between(changes: RunChanges) -> list[tuple[str, str]]:
    """(name, value): what is compared, when and from which commits, commits between, versions that changed."""
    pairs = [
        (
            "Compared with",
            changes.old + (", which is the later one" if changes.old_started > changes.new_started else ""),
        ),
        ("Started", _arrow(_time(changes.old_started), _time(changes.new_started))),
        ("Commit", _arrow(changes.old_commit[:12], changes.new_commit[:12])),
        (
            "Versions",
            ", ".join(f"{name} {old or 'absent'} -> {new or 'absent'}" for name, old, new in changes.versions),
        ),
    ]
    if changes.old_started and not changes.versions:
        pairs[-1] = ("Versions", "the same")
    return [(name, one_line(value)) for name, value in pairs if value]


def cells(changes: RunChanges) -> list[Cell]:
    """In the order of the run."""
    return [_cell(cell) for cell in changes.cells]


def sparkline(values: Sequence[float]) -> str:
    """One bar for each value, "" for fewer than three."""
    return "".join(BARS[round(height * (len(BARS) - 1))] for height in heights(values))


def heights(values: Sequence[float]) -> list[float]:
    """From 0 for the least value to 1 for the greatest; of values within a percent of one another all are in the middle. () for fewer
    than three."""
    if len(values) < 3:
        return []
    low, high = min(values), max(values)
    if high - low <= SAME * max(abs(low), abs(high)):
        return [0.5] * len(values)
    return [(value - low) / (high - low) for value in values]


def _arrow(old: str, new: str) -> str:
    if not old and not new:
        return ""
    return f"{old or 'unknown'} -> {new or 'unknown'}" if old != new else f"{old}, the same"


def _time(text: str) -> str:
    """`2026-11-26 08:12:03 UTC`, of a time in UTC."""
    return text.removesuffix("+00:00").replace("T", " ") + " UTC" if text.endswith("+00:00") else text


def _cell(cell: CellChange) -> Cell:
    before, after = cell.verdicts
    words = f"{before or 'no verdict'} -> {after or 'no verdict'}" if before != after and (before or after) else after
    return Cell(
        one_line(cell.case), one_line(cell.flow), words, tuple(_lines(cell)), tuple(map(one_line, _notes(cell)))
    )


def _notes(cell: CellChange) -> list[str]:
    notes = []
    if cell.only:
        notes.append(
            "in this run alone: nothing to compare with" if cell.only == "new" else "gone: the run before had it"
        )
    if cell.decision:
        notes.append(f"speed, side by side: {cell.decision}")
    elif _timed(cell):
        notes.append(NO_DECISION)
    if cell.other_batch:
        notes.append(
            f"latency and throughput were of batch {cell.batches[0]}, and are of batch {cell.batches[1]} now: not compared"
        )
    if cell.lost_fusion is not None:
        notes.append(describe_lost_fusion(cell.lost_fusion))
    notes += [f"new warning: {warning}" for warning in grouped_warnings(cell.new_warnings)]
    notes += [f"gone warning: {warning}" for warning in grouped_warnings(cell.gone_warnings)]
    notes += [f"engine: {change}" for change in cell.engine]
    return notes


def _timed(cell: CellChange) -> bool:
    return any(
        delta.metric.startswith("latency.") and delta.old is not None and delta.new is not None for delta in cell.deltas
    )


def _lines(cell: CellChange) -> list[Line]:
    if cell.only == "old":
        return []
    by_name = {delta.metric: delta for delta in cell.deltas}
    measured = any(name.startswith("latency.") for name in by_name)
    verified = any(name in by_name for name in ("budget_used", "max_abs"))
    lines = [
        _line(label, by_name.get(name, MetricDelta(name, None, None)), cell)
        for label, name in ALWAYS
        if name in by_name
        or (measured and name.startswith(("latency", "throughput", "memory", "gpu")))
        or (verified and name in ("budget_used", "max_abs"))
    ]
    lines += [_line(_LABELS.get(delta.metric, delta.metric), delta, cell) for delta in _more_changed(cell)]
    if cell.only == "new":
        # Its sentence says that there is nothing to compare with: no line repeats it, and what it has none of is left out.
        lines = [msgspec.structs.replace(line, change="" if line.after else line.change) for line in lines]
    return lines


def shown_metrics(cell: CellChange) -> list[str]:
    """Those that it has and that a line is made of: only their values in earlier runs are looked at."""
    always = {name for _, name in ALWAYS}
    return [delta.metric for delta in (*(kept for kept in cell.deltas if kept.metric in always), *_more_changed(cell))]


def _more_changed(cell: CellChange) -> list[MetricDelta]:
    always, is_new = {name for _, name in ALWAYS}, cell.only == "new"
    return [
        delta
        for delta in cell.deltas
        if delta.metric.startswith(_MORE) and delta.metric not in always
        if delta.metric.startswith("task.") or (delta.old != delta.new and (delta.new or not is_new))
    ]


def _line(label: str, delta: MetricDelta, cell: CellChange) -> Line:
    series = tuple(value for value in (*delta.past, delta.new) if value is not None and math.isfinite(value))
    before, after = _shown(delta.metric, delta.old), _shown(delta.metric, delta.new)
    return Line(
        one_line(label),
        before,
        after,
        _change(delta, other_batch=cell.other_batch and is_of_a_batch(delta.metric)),
        0 if delta.metric.startswith(_SECONDS) else _worse(delta),
        series if delta.new is not None else (),
    )


def _shown(metric: str, value: float | None) -> str:
    """With the unit of the table of metrics."""
    if value is None:
        return ""
    match unit(metric):
        case "bytes":
            return text.size(value) or "0 B"
        case "s":
            return text.duration(value)
        case "":
            return text.metric(metric, value)
        case known:
            return f"{text.number(value)} {known}"


def _change(delta: MetricDelta, *, other_batch: bool) -> str:
    """Bytes as bytes and percent; decibels, of which a part means nothing, as a difference; anything else in percent, or from zero as a
    difference. Why there is nothing to compare."""
    if delta.new is None:
        return f"{_NEEDS.get(delta.metric, 'not measured')}"
    if delta.old is None:
        return "of another batch" if other_batch else "not measured before"
    if delta.old == delta.new:
        return "same"
    difference = delta.new - delta.old
    by = f"{100.0 * difference / abs(delta.old):+.1f} %" if delta.old and unit(delta.metric) != "dB" else ""
    if unit(delta.metric) == "bytes":
        sign = "+" if difference > 0 else "-"
        return f"{sign}{text.size(abs(difference))}{f' ({by})' if by else ''}"
    return by or f"{'+' if difference > 0 else '-'}{_shown(delta.metric, abs(difference))}"


def _worse(delta: MetricDelta) -> int:
    if (
        delta.old is None
        or delta.new is None
        or abs(delta.new - delta.old) <= max(SAME * abs(delta.old), _blur(delta.metric))
    ):
        return 0
    bad = direction(delta.metric)
    if bad == "both":
        return 0
    return 1 if (delta.new > delta.old) == (bad == "up") else -1


def _blur(metric: str) -> float:
    """What a reading of resident memory is uncertain by, and what is nothing in what users mean by the same answer."""
    if metric.startswith("task."):
        return 1e-6
    return RESIDENT_BLUR_BYTES if metric.startswith("memory.") else 0.0
