"""What is said of a measurement on a GPU: its own clock, the calls that do not count, and a device that nobody looked at."""

from __future__ import annotations

from collections import Counter

from assay.core.result import MeasureResult
from assay.judge.words.note_text import note_text


def all_lost(result: MeasureResult) -> str:
    """Why there is no sample although calls were made; "" where there is one."""
    records = [measurement.gpu for measurement in result.measurements if measurement.gpu is not None]
    lost = sum(record.lost for record in records)
    if not lost or any(measurement.wall_s for measurement in result.measurements):
        return ""
    return (
        f"none of the {lost} calls counts, the GPU was held back or shared in all of them ({_why(result)}): measure on one "
        "that is cool, uncapped and your own"
    )


def gpu_notes(result: MeasureResult) -> str:
    """To be put behind the median of the wall clock; "" for an engine that ran elsewhere."""
    records = [measurement.gpu for measurement in result.measurements if measurement.gpu is not None]
    if not records:
        return ""
    parts = [] if records[0].clock else ["by the wall clock: this engine does not hand out its stream"]
    lost, kept = (
        sum(record.lost for record in records),
        sum(len(measurement.wall_s) for measurement in result.measurements),
    )
    if lost:
        parts.append(f"{lost} of {lost + kept} calls discarded ({_why(result)})")
    untold = next((record.untold for record in records if record.untold), None)
    if untold:
        parts.append(f"clocks and other users of the GPU not seen: {note_text(untold)}")
    return "".join(f"; {part}" for part in parts)


def _why(result: MeasureResult) -> str:
    """The commonest reason first."""
    counted: Counter[str] = Counter()
    for measurement in result.measurements:
        counted.update(measurement.gpu.discarded if measurement.gpu is not None else {})
    return ", ".join(f"{reason} {calls}" for reason, calls in counted.most_common())
