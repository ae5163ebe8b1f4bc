"""The inputs of a case at another batch size: its own samples joined, and repeated until there are enough."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.job import Job
from assay.errors import UsageError
from assay.ports import Tensor


def at_batch(job: Job, inputs: Sequence[dict[str, Tensor]], batch: int) -> dict[str, Tensor]:
    """One feed of `batch` rows along axis 0; the first sample as it is for 0. Raises UsageError for a size that the model
    cannot take."""
    if not batch:
        return inputs[0]
    fixed = [spec for spec in job.case.model.inputs if not spec.shape or isinstance(spec.shape[0], int)]
    if fixed and any(spec.shape[:1] != (batch,) for spec in fixed):
        raise UsageError(
            f"batch {batch}: input '{fixed[0].name}' of model '{job.case.model.name}' has the fixed shape "
            f"{list(fixed[0].shape)}; measure a model with a symbolic first dimension, or leave the batch sizes out"
        )
    rows = sum(sample[job.case.model.inputs[0].name].shape[0] for sample in inputs)
    chosen = list(inputs) * -(-batch // max(rows, 1))
    return {name: np.concatenate([sample[name] for sample in chosen])[:batch] for name in inputs[0]}


def batch_of(feed: dict[str, Tensor]) -> int:
    """The length of the first input's first axis; 1 where it has none."""
    first = next(iter(feed.values()), None)
    return int(first.shape[0]) if first is not None and first.ndim else 1
