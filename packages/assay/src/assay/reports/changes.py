"""What changed since the run before, as lines that every report shows: metric, before, after, difference, the values of earlier runs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.changes import CellChange, MetricDelta, RunChanges
from assay.judge.lost_fusions import describe_lost_fusion
from assay.judge.metric_registry import direction
from assay.judge.warnings_text import grouped_warnings
from assay.reports import format as text
from assay.reports.sanitize import one_line

TITLE = "Against the version before"
HEADER = ("metric", "before", "after", "change", "")
SAME = 0.01
"""Relative change below which a line is not marked, whichever way it goes."""
BARS = "▁▂▃▄▅▆▇█"
ABSENT = "not measured here"

ALWAYS = (
    ("deviation (budget used)", "budget_used"),
    ("largest error", "max_abs"),
    ("latency, mean", "latency.mean_ms"),
    ("latency, p50", "latency.median_ms"),
    ("latency, p90", "latency.p90_ms"),
    ("latency, p99", "latency.p99_ms"),
    ("throughput", "throughput.per_s"),
    ("peak memory", "memory.run_peak_bytes"),
    ("settled memory", "memory.settled_bytes"),
    ("memory of loading", "memory.load_added_bytes"),
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
    "memory.growth",
)
"""Shown where they are there and have changed; of task metrics, always."""
_NEEDS = {
    "latency.p90_ms": "needs 44 samples",
    "latency.p99_ms": "needs 459 samples",
    "gpu.sm_share": "no GPU that NVML reports",
    "gpu.memory_share": "no GPU that NVML reports",
}


class Line(msgspec.Struct, frozen=True):
    """One metric of one cell. `worse` is 1 where it got worse by more than a percent, -1 where better, else 0. `series` are the values
    of earlier runs, the one before and this one."""

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


def facts_between(changes: RunChanges) -> list[tuple[str, str]]:
    """(name, value): what is compared, when and from which commits, commits between, versions that changed."""
    pairs = [
        ("Compared with", changes.old),
        ("Started", _arrow(changes.old_started, changes.new_started)),
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
    """Those that changed most gravely first are not sorted: the order is that of the run."""
    return [_cell(one) for one in changes.cells]


def changed_lines(cell: Cell) -> list[Line]:
    """Lines that moved by more than a percent, for a narrow screen."""
    return [one for one in cell.lines if one.worse or one.change not in ("", "same")]


def sparkline(values: Sequence[float]) -> str:
    if len(values) < 3:
        return ""
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    return "".join(BARS[round((value - low) / span * (len(BARS) - 1))] for value in values)


def _arrow(old: str, new: str) -> str:
    if not old and not new:
        return ""
    return f"{old or 'unknown'} -> {new or 'unknown'}" if old != new else f"{old}, the same"


def _cell(one: CellChange) -> Cell:
    before, after = one.verdicts
    words = f"{before or 'no verdict'} -> {after or 'no verdict'}" if before != after and (before or after) else after
    return Cell(one_line(one.case), one_line(one.flow), words, tuple(_lines(one)), tuple(map(one_line, _notes(one))))


def _notes(one: CellChange) -> list[str]:
    notes = []
    if one.only:
        notes.append(
            "in this run alone: nothing to compare with" if one.only == "new" else "gone: the run before had it"
        )
    if one.decision:
        notes.append(f"speed, side by side: {one.decision}")
    if one.lost_fusion is not None:
        notes.append(describe_lost_fusion(one.lost_fusion))
    notes += [f"new warning: {said}" for said in grouped_warnings(one.new_warnings)]
    notes += [f"gone warning: {said}" for said in grouped_warnings(one.gone_warnings)]
    notes += [f"engine: {change}" for change in one.engine]
    return notes


def _lines(cell: CellChange) -> list[Line]:
    if cell.only == "old":
        return []
    by_name = {one.metric: one for one in cell.deltas}
    measured = any(name.startswith("latency.") for name in by_name)
    verified = any(name in by_name for name in ("budget_used", "max_abs"))
    lines = [
        _line(label, by_name.get(name, MetricDelta(name, None, None)))
        for label, name in ALWAYS
        if name in by_name
        or (measured and name.startswith(("latency", "throughput", "memory", "gpu")))
        or (verified and name in ("budget_used", "max_abs"))
    ]
    shown = {name for _, name in ALWAYS}
    more = [one for name, one in by_name.items() if name.startswith(_MORE) and name not in shown]
    return lines + [_line(one.metric, one) for one in more if one.metric.startswith("task.") or one.old != one.new]


def _line(label: str, one: MetricDelta) -> Line:
    series = tuple(value for value in (*one.past, one.old, one.new) if value is not None and value == value)
    return Line(
        one_line(label), _shown(one.metric, one.old), _shown(one.metric, one.new), _change(one), _worse(one), series
    )


def _shown(metric: str, value: float | None) -> str:
    if value is None:
        return _NEEDS.get(metric, ABSENT)
    return text.metric(metric, value) or text.number(value)


def _change(one: MetricDelta) -> str:
    """Bytes as bytes and percent; anything else in percent, or from zero as a difference."""
    if one.old is None or one.new is None:
        return ""
    if one.old == one.new:
        return "same"
    difference = one.new - one.old
    by = f"{100.0 * difference / abs(one.old):+.1f} %" if one.old else f"{difference:+.3g}"
    if one.metric.endswith("bytes"):
        sign = "+" if difference > 0 else "-"
        return f"{sign}{text.size(abs(difference))} ({by})"
    return by


def _worse(one: MetricDelta) -> int:
    if one.old is None or one.new is None or abs(one.new - one.old) <= SAME * abs(one.old):
        return 0
    bad = direction(one.metric)
    if bad == "both":
        return 0
    return 1 if (one.new > one.old) == (bad == "up") else -1
