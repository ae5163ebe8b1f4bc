"""How a job is judged: by the tolerance that its contract chooses, with the profile that was derived for it on disk."""

from __future__ import annotations

from pathlib import Path

from assay.core.case import Contract
from assay.core.job import Job
from assay.models.profiles import read_profile
from assay.numerics.tolerance.judging import Judging, judging_by


def judging_of(job: Job, contract: Contract) -> Judging:
    """Raises UsageError for a choice of tolerance that is none."""
    return judging_by(
        contract, lambda: read_profile(Path(job.profile)) if job.profile else None, derived=bool(job.profile)
    )
