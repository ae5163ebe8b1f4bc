"""The inputs of a case at another batch size: its own samples joined, and repeated until there are enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.job_base import InputsJob
from assay.core.note import NoteCode, noted
from assay.errors import UsageError
from assay.models.input_plan.symbols import symbols
from assay.ports import Tensor
from assay.worker.inputs.input_choice import inputs_at
from assay.worker.inputs.load_inputs import has_source


def rebatch(job: InputsJob, inputs: Sequence[dict[str, Tensor]], batch: int) -> dict[str, Tensor]:
    """One feed of `batch` rows along axis 0; the first sample as it is for 0. Raises UsageError for a size that the model
    cannot take."""
    if not batch:
        return inputs[0]
    fixed = [spec for spec in job.case.model.inputs if not spec.shape or isinstance(spec.shape[0], int)]
    if fixed and not has_source(job) and (firsts := _firsts(job)):
        # A state of shape [2, N, 128] has its batch elsewhere; an input without one stays as it is.
        drawn = inputs_at(job, dict.fromkeys(firsts, batch))
        if any(drawn[spec.name].shape[0] == batch for spec in job.case.model.inputs if spec not in fixed):
            return drawn
    if fixed and any(spec.shape[:1] != (batch,) for spec in fixed):
        raise UsageError(
            noted(
                NoteCode.FIXED_BATCH,
                batch=batch,
                input=fixed[0].name,
                model=job.case.model.name,
                shape=tuple(fixed[0].shape),
            )
        )
    rows = sum(sample[job.case.model.inputs[0].name].shape[0] for sample in inputs)
    chosen = list(inputs) * -(-batch // max(rows, 1))
    return {name: np.concatenate([sample[name] for sample in chosen])[:batch] for name in inputs[0]}


def _firsts(job: InputsJob) -> list[str]:
    known = {spec.name: spec.shape for spec in job.case.model.inputs}
    return [name for name, first in symbols(known).items() if first]


def batch_of(feed: dict[str, Tensor]) -> int:
    """The length of the first input's first axis; 1 where it has none."""
    first = next(iter(feed.values()), None)
    return int(first.shape[0]) if first is not None and first.ndim else 1
