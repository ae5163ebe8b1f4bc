"""How a job is judged: by the tolerance that its contract chooses, with the profile that was derived for it on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.core.case import Contract
from assay.core.job import ToleranceJob
from assay.core.job_base import FlowJob
from assay.core.note import Note, NoteCode, noted
from assay.models.goldens import read_lock
from assay.models.tolerance_file import read_tolerance
from assay.numerics.tolerance.choose_comparator import comparator_by
from assay.numerics.tolerance.comparator import ToleranceComparator

PROGRAM_DOUBLE = "torch-eager-f64"
DOUBLE = ("reference-f64", PROGRAM_DOUBLE)


def load_tolerance(job: ToleranceJob, contract: Contract) -> ToleranceComparator:
    """Raises UsageError for a choice of tolerance that is none."""
    judging = comparator_by(
        contract,
        lambda: read_tolerance(Path(job.tolerance_dir)) if job.tolerance_dir else None,
        derived=bool(job.tolerance_dir),
    )
    notes = _next_best(job)
    golden = bool(job.case.inputs.golden)
    return replace(judging, notes=(*notes, *judging.notes), translated=_own_double(job), golden=golden)


def _own_double(job: ToleranceJob) -> bool:
    """Are the reference answers those of the exported program itself, not of the graph that torch makes of it?"""
    if not job.reference_dir or job.case.inputs.golden:
        return False
    return read_lock(Path(job.reference_dir)).producer == PROGRAM_DOUBLE


def _next_best(job: ToleranceJob) -> tuple[Note, ...]:
    """Whose answers the reference is where it is not the model's in double, and why."""
    if not job.reference_dir or job.case.inputs.golden:
        return ()
    lock = read_lock(Path(job.reference_dir))
    if lock.producer in DOUBLE:
        return ()
    if isinstance(job, FlowJob) and lock.producer.split("-")[0] == job.flow.backend:
        known = noted(
            NoteCode.REFERENCE_BY_ITSELF, producer=lock.producer, engine=job.flow.backend, error=lock.refusals
        )
    else:
        known = noted(NoteCode.REFERENCE_BY_ANOTHER, producer=lock.producer, error=lock.refusals)
    return (known,)
