"""What an inspection measured, as a manifest keeps it."""

from __future__ import annotations

from assay_zoo.inspect import Inspection


def accuracy_of(inspection: Inspection, metric: str) -> float | None:
    """The metric as a check of accuracy saw it; None where none did."""
    for one in inspection.checks:
        value = one.figures.get(metric, one.figures.get("measured"))
        if one.group == "accuracy" and isinstance(value, float | int):
            return float(value)
    return None


def performance_of(inspection: Inspection) -> dict[str, dict[str, float]]:
    """By kind of machine, then by metric; metrics of another flow than the first have its name in front."""
    found: dict[str, dict[str, float]] = {}
    first = ""
    for one in inspection.checks:
        numbers = {name: float(value) for name, value in one.figures.items() if isinstance(value, float | int)}
        if one.group != "performance" or not numbers or "machine" not in one.figures:
            continue
        machine = str(one.figures["machine"])
        flow = str(one.figures.get("flow", ""))
        first = first or flow
        prefix = f"{flow}:" if flow and flow != first else ""
        figures = found.setdefault(machine, {})
        figures |= {f"{prefix}{name}": value for name, value in numbers.items()}
    return found
