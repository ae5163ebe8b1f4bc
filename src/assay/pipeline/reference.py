"""Reference outputs for cases without goldens: computed once per model and inputs, by a job of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.core.blank import blank_result
from assay.core.flow import Flow
from assay.core.golden import REFERENCE
from assay.core.job import Job, Task
from assay.core.result import Cause, Outcome, Result, Stage
from assay.errors import BadGolden, BadInputs
from assay.models.golden_checks import file_problems
from assay.models.goldens import read_lock
from assay.pipeline.house import House
from assay.plugins import find_flow

ORACLES = {
    "onnx": ("reference-f64", "reference", "onnxruntime-disable", "openvino-f32"),
    "torch": ("torch-eager-f64", "torch-eager"),
}
"""By the format of the model, tried in this order: the float64 evaluation, then the model's own precision where double is
not possible, then a runtime that has operators which the standard does not have. Which one it was, and why, is kept with
the answers, and told with the result."""


def record_references(jobs: Sequence[Job], house: House) -> list[Result]:
    """Make sure that every job has its reference. Returns the results of the jobs that cannot have one: an error where the
    model itself is broken, mistrusted where nothing can compute it, infrastructure where the machine was the reason."""
    missing = {job.reference: job for job in jobs if job.reference and not _there(job.reference)}
    waiting = missing
    reasons: dict[str, str] = {}
    refusals: dict[str, list[Result]] = {}
    for attempt in range(max(map(len, ORACLES.values()))):
        for format, oracles in ORACLES.items():
            asked = [job for job in waiting.values() if job.case.model.format == format]
            if not asked or attempt >= len(oracles):
                continue
            for result in _record(asked, find_flow(oracles[attempt]), reasons, house):
                told = f"{oracles[attempt]}: {result.outcome.value}, {result.detail}"
                reasons[result.case] = "; ".join(filter(None, (reasons.get(result.case), told)))
                refusals.setdefault(result.case, []).append(result)
        missing = {folder: job for folder, job in missing.items() if not _there(folder)}
        # The graph says what is wrong, and an evaluator agrees: a laxer runtime's answer would prove nothing.
        waiting = {folder: job for folder, job in waiting.items() if folder in missing and not _unmet(refusals, job)}
    without = [job for job in jobs if job.reference in missing]
    if without and len(without) == len(jobs):
        wrong = {job.case.name: _wrong_inputs(refusals.get(job.case.name, [])) for job in without}
        if all(wrong.values()):
            raise BadInputs("\n".join(dict.fromkeys(wrong.values())))
    return [_without(job, refusals.get(job.case.name, [])) for job in without]


def _unmet(refusals: Mapping[str, Sequence[Result]], job: Job) -> bool:
    return any(one.cause is Cause.WRONG_USAGE for one in refusals.get(job.case.name, ()))


def _wrong_inputs(refusals: Sequence[Result]) -> str:
    """What keeps all inputs from being taken: a constraint of the graph that is not met, or two oracles of which each refuses,
    while it runs, whatever was tried. "" where something else is wrong."""
    unmet = next((one.detail for one in refusals if one.cause is Cause.WRONG_USAGE), "")
    able = [one for one in refusals if one.outcome not in (Outcome.UNSUPPORTED, Outcome.UNAVAILABLE)]
    if unmet or len(able) < 2 or not all(one.outcome is Outcome.ERROR and one.stage is Stage.RUN for one in able):
        return unmet
    first = able[0]
    return (
        f"no inputs were found that '{first.case}' takes: {first.detail} ({first.flow}; {len(able)} of {len(able)} oracles refuse "
        "all that was tried); state sizes with --dim, values with --input-range or --input-value, or give a golden with --golden"
    )


def _record(jobs: Sequence[Job], oracle: Flow, reasons: Mapping[str, str], house: House) -> list[Result]:
    """`reasons` say why the oracles before this one have no answers."""
    asked = [msgspec.structs.replace(job, flow=oracle, task=Task.RECORD, why=_why(job, reasons)) for job in jobs]
    return list(house.pool.launch(asked))


def _why(job: Job, reasons: Mapping[str, str]) -> str:
    return f"{REFERENCE}; {reasons[job.case.name]}" if job.case.name in reasons else ""


def _there(folder: str) -> bool:
    """Whole: what a full disk or a killed run left is computed again."""
    try:
        return not list(file_problems(Path(folder), read_lock(Path(folder))))
    except BadGolden:
        return False


def _without(job: Job, refusals: Sequence[Result]) -> Result:
    invalid = next((one for one in refusals if one.cause is Cause.INVALID_MODEL), None)
    if invalid is not None:
        blank = blank_result(job, Outcome.ERROR)
        told = f"the model is broken: {invalid.detail} ({invalid.flow})"
        return msgspec.structs.replace(blank, stage=Stage.LOWER, cause=Cause.INVALID_MODEL, detail=told)
    if wrong := _wrong_inputs(refusals):
        return msgspec.structs.replace(blank_result(job, Outcome.ERROR), cause=Cause.WRONG_USAGE, detail=wrong)
    ours = not refusals or any(one.outcome is Outcome.INFRASTRUCTURE for one in refusals)
    first, *others = (f"{one.flow}: {one.outcome.value}" for one in refusals) if refusals else ("nothing was tried",)
    why = "; ".join([f"{first}, {refusals[0].detail}" if refusals else first, *others])
    told = f"no reference outputs for '{job.case.name}' ({why}); record goldens with `assay golden record` and give --golden"
    blank = blank_result(job, Outcome.INFRASTRUCTURE if ours else Outcome.MISTRUSTED)
    return msgspec.structs.replace(blank, detail=told)
