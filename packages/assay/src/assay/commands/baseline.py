"""`assay baseline` as functions."""

from __future__ import annotations

from assay.commands.check import prepared
from assay.commands.composition import open_services
from assay.core.baseline import Baseline
from assay.errors import UsageError
from assay.options.check import CheckOptions
from assay.pipeline import find_baseline
from assay.pipeline.progress import SILENT
from assay.pipeline.set_baseline import set_baseline


def set_baselines(options: CheckOptions, reason: str) -> list[Baseline]:
    """Approve the engines of all models and flows that `options` name. Raises UsageError where one cannot be had."""
    with prepared(options, SILENT) as (request, house):
        return set_baseline(request, reason, house)


def list_baselines(history: str) -> list[Baseline]:
    """All that are current."""
    with open_services(history) as house:
        return list(find_baseline.baselines(house))


def remove_baseline(case: str, flow: str, history: str) -> int:
    """Raises UsageError where there is none."""
    with open_services(history) as house:
        removed = find_baseline.remove(house, case, flow)
        if not removed:
            known = (
                ", ".join(f"{one.case} on {one.flow.name}" for one in find_baseline.baselines(house)) or "there is none"
            )
            raise UsageError(f"no baseline of {case!r} on {flow!r}: {known}")
        return removed
