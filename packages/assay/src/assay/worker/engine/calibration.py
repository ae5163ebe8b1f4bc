"""Which samples a quantizing transform may see, and which are left to judge it by: never the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from msgspec.structs import replace as replace_struct

from assay import plugins
from assay.core.case import Inputs
from assay.core.dtype import is_floating
from assay.core.flow import Flow
from assay.core.job import ReferenceJob
from assay.core.job_base import FlowJob, InputsJob
from assay.models.calibration_samples import kept_for_calibration
from assay.models.companion_goldens import with_companion
from assay.models.goldens import Golden
from assay.ports import Tensor, Tensors
from assay.worker.inputs.input_choice import drawn as drawn_by
from assay.worker.inputs.input_choice import planned
from assay.worker.inputs.load_inputs import load_golden, load_inputs

DRAWN = 32
"""How many are drawn from the seed where there is no golden set: they cost nothing there."""


@dataclass(frozen=True)
class Calibration:
    """Samples with their indices: in the golden set, or in the stream of the seed, behind those that are judged."""

    samples: Sequence[Tensors] = ()
    indices: tuple[int, ...] = ()
    seed: int = 0


def is_calibrated(flow: Flow) -> bool:
    """Whether any of its transforms needs samples."""
    return any(map(plugins.is_calibrated, flow.transforms))


def calibration_split(job: InputsJob) -> Calibration:
    """The samples to calibrate with. Raises UsageError where taking them would leave none to judge."""
    recipe = _recipe(job)
    if stored := recipe.golden or recipe.given:
        # What is recorded is not judged yet: its inputs may come from a file or from a golden of another model.
        inputs = load_inputs(job).inputs if isinstance(job, ReferenceJob) else load_golden(job).inputs
        if _is_resampled(recipe, len(inputs)):
            drawn = resampled(inputs[0], count=recipe.calibration or DRAWN, seed=recipe.seed)
            return Calibration(drawn, tuple(range(1, len(drawn) + 1)), recipe.seed)
        indices = kept_for_calibration(len(inputs), recipe.calibration, recipe.seed, stored)
        return Calibration([inputs[index] for index in indices], indices, recipe.seed)
    first, count = recipe.samples, recipe.calibration or DRAWN
    drawn = drawn_by(job, planned(job), samples=first + count)
    return Calibration(drawn[first:], tuple(range(first, first + count)), recipe.seed)


def evaluation_split(job: InputsJob, golden: Golden) -> Golden:
    """What is left of the golden set for a flow that is calibrated on it; for any other all of it, its companion's samples
    at the end (those lie outside of the range that a calibrated flow was promised)."""
    recipe = _recipe(job)
    stored = recipe.golden or recipe.given
    if not stored:
        return golden
    if not isinstance(job, FlowJob) or not is_calibrated(job.flow):
        return with_companion(Path(stored), golden) if job.case.inputs.golden else golden
    if _is_resampled(recipe, len(golden.inputs)):
        return golden
    taken = set(kept_for_calibration(len(golden.inputs), recipe.calibration, recipe.seed, stored))
    rest = [index for index in range(len(golden.inputs)) if index not in taken]
    return replace(
        golden,
        inputs=[golden.inputs[index] for index in rest],
        outputs=[golden.outputs[index] for index in rest],
        labels={name: array[rest] for name, array in golden.labels.items()},
    )


def _recipe(job: InputsJob) -> Inputs:
    """The inputs of the case, which are those of its original where it has one."""
    original = job.case.original
    return job.case.inputs if original is None else replace_struct(job.case.inputs, golden=original.golden)


def resampled(sample: Tensors, *, count: int, seed: int) -> Sequence[Tensors]:
    """`count` samples like this one: real values drawn from its own with replacement (a bootstrap, so that they stay in what the
    operator is defined on), whole numbers, truth values and texts as they are (indices, lengths, masks)."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return [{name: _bootstrap(array, generator) for name, array in sample.items()} for _ in range(count)]


def _bootstrap(array: Tensor, generator: np.random.Generator) -> Tensor:
    if not array.size or not is_floating(array.dtype.name):
        return array
    drawn: Tensor = generator.choice(array.reshape(-1), size=array.shape)
    return drawn


def _is_resampled(recipe: Inputs, count: int) -> bool:
    return recipe.resampled and count == 1
