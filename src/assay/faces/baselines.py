"""`assay baseline` as functions."""

from __future__ import annotations

from assay.core.baseline import Baseline
from assay.errors import UsageError
from assay.faces.api import CheckOptions, prepared
from assay.faces.composition import open_house
from assay.pipeline import baselines
from assay.pipeline.bless import bless
from assay.pipeline.progress import SILENT


def set_baselines(options: CheckOptions, reason: str) -> list[Baseline]:
    """Bless the engines of all models and flows that `options` name. Raises UsageError where one cannot be had."""
    with prepared(options, SILENT) as (request, house):
        return bless(request, reason, house)


def list_baselines(history: str) -> list[Baseline]:
    """All that are current."""
    with open_house(history) as house:
        return list(baselines.baselines(house))


def remove_baseline(case: str, flow: str, history: str) -> int:
    """Raises UsageError where there is none."""
    with open_house(history) as house:
        removed = baselines.remove(house, case, flow)
        if not removed:
            known = ", ".join(f"{one.case} on {one.flow.name}" for one in baselines.baselines(house)) or "there is none"
            raise UsageError(f"no baseline of {case!r} on {flow!r}: {known}")
        return removed
