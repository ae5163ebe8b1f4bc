"""Reference outputs for cases without goldens: computed once per model and inputs, by a job of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.flow import Flow
from assay.core.job import Job, Task
from assay.core.result import Outcome, Result
from assay.pipeline.house import House
from assay.plugins import find_flow

ORACLES = {"onnx": ("reference-f64", "reference"), "torch": ("torch-eager-f64", "torch-eager")}
"""By the format of the model, tried in this order: the float64 evaluation, then the model's own precision where double is
not possible."""


def record_references(jobs: Sequence[Job], house: House) -> list[Result]:
    """Make sure that every job has its reference. Returns the results of the jobs that cannot have one."""
    missing = {job.reference: job for job in jobs if job.reference and not _there(job.reference)}
    reasons: dict[str, str] = {}
    for attempt in range(2):
        for format, oracles in ORACLES.items():
            asked = [job for job in missing.values() if job.case.model.format == format]
            name = oracles[attempt]
            for result in _record(asked, find_flow(name), house) if asked else ():
                reasons[result.case] = f"{name}: {result.outcome.value}, {result.detail}"
        missing = {folder: job for folder, job in missing.items() if not _there(folder)}
    return [
        msgspec.structs.replace(blank_result(job, Outcome.INFRASTRUCTURE), detail=_without(job, reasons))
        for job in jobs
        if job.reference in missing
    ]


def _record(jobs: Sequence[Job], oracle: Flow, house: House) -> list[Result]:
    asked = [msgspec.structs.replace(job, flow=oracle, task=Task.RECORD) for job in jobs]
    return list(house.pool.launch(asked)) if asked else []


def _there(folder: str) -> bool:
    return (Path(folder) / "golden.lock").is_file()


def _without(job: Job, reasons: dict[str, str]) -> str:
    why = reasons.get(job.case.name, "no reason was given")
    return f"no reference outputs for '{job.case.name}' ({why}); record goldens with `assay golden record` and give --golden"
