"""The inputs of a case and what they should give, as the worker reads them."""

from __future__ import annotations

from pathlib import Path

from assay.core.job import Job
from assay.models.goldens import Golden, read_golden
from assay.ports import Tensor
from assay.models.seeded import seeded_inputs


def golden_of(job: Job) -> Golden:
    """The golden of the case, or the one that the oracle recorded for this run. Raises BadGolden."""
    return read_golden(Path(job.case.inputs.golden or job.reference), model_digest=job.case.model.digest)


def inputs_of(job: Job) -> list[dict[str, Tensor]]:
    """One dict per sample; seeded where the case has no golden."""
    if job.case.inputs.golden or job.reference:
        return golden_of(job).inputs
    recipe = job.case.inputs
    return seeded_inputs(job.case.model, seed=recipe.seed, samples=recipe.samples, batch=recipe.batch)
