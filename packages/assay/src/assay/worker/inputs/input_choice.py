"""Which inputs a model without data of its own is fed: planned from its graph, and tried on the reference before any engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from assay.core.constraint import Constraint, unmet_note
from assay.core.flow import dimension_key
from assay.core.input_plan import InputPlan, RangeSource
from assay.core.job_base import InputsJob
from assay.core.note import Note, NoteCode, noted
from assay.errors import BadGolden, BadInputs, NotRunnable, Unsupported
from assay.models.flop_count import flops_of
from assay.models.golden_samples import stored_shapes
from assay.models.goldens import read_lock
from assay.models.input_plan.draw_plan import (
    alternatives,
    ascending,
    other_sizes,
    plan_of,
    whole_lengths,
    without_guesses,
)
from assay.models.random_inputs import random_inputs
from assay.numerics.degenerate import STILL, same_numbers
from assay.ports import Tensor

Samples = list[dict[str, Tensor]]
TRYING_S = 10.0
"""After so long no other inputs are tried: a slow reference is not asked five times."""
SEARCHING_S = 3.0
"""How long sizes are searched by asking the reference."""
MOST = 1 << 35
"""Products that the reference makes for all samples together: some five seconds of a processor in double."""
FEWEST = 2
"""Samples: of one nobody sees whether an engine answers others the same."""
LARGE = 1 << 14
"""Numbers of one sample from which on its products are counted."""


def planned(job: InputsJob) -> InputPlan:
    """The plan that the reference answers of this run were recorded with, or a golden's own; else one made here and now."""
    for folder in (job.case.inputs.golden, job.reference_dir):
        try:
            plan = read_lock(Path(folder)).plan if folder else None
        except BadGolden:
            plan = None
        if plan is not None:
            return plan
    return new_plan(job)


def new_plan(job: InputsJob, sizes: Mapping[str, int] = {}) -> InputPlan:
    """From the graph, at these sizes, and at the usual ones that the case names for the other dimensions."""
    recipe = job.case.inputs
    fixed = {name: size for name, (_, size, _) in recipe.dims.items()} | dict(sizes)
    return plan_of(job.case.model, batch=recipe.batch, fixed=fixed, stated=recipe.ranges)


def inputs_at(job: InputsJob, sizes: Mapping[str, int]) -> dict[str, Tensor]:
    """One sample at other sizes than the case's own; what was changed until the reference took its inputs is changed here, too."""
    recorded, plan = planned(job), new_plan(job, {**_stored_sizes(job, sizes), **sizes})
    if plan.unmet:
        # What a golden has goes with its own sizes only.
        plan = new_plan(job, sizes)
    kept = {
        name: input_range for name, input_range in recorded.ranges.items() if input_range.source is RangeSource.TRIED
    }
    known = without_guesses(plan)
    ranges = {
        name: input_range for name, input_range in plan.ranges.items() if name in known or name in recorded.ranges
    }
    (sample,) = drawn(job, replace(plan, ranges={**ranges, **kept}, floats=recorded.floats), samples=1)
    return sample


def _stored_sizes(job: InputsJob, changed: Mapping[str, int]) -> dict[str, int]:
    """Of the dimensions of a golden's first sample, those that are not changed."""
    folder = job.case.inputs.golden
    if not folder:
        return {}
    try:
        shapes = stored_shapes(read_lock(Path(folder)))
    except BadGolden:
        return {}
    return {
        name: size
        for spec in job.case.model.inputs
        for axis, (dim, size) in enumerate(zip(spec.shape, shapes.get(spec.name, ()), strict=False))
        if isinstance(dim, str) and (name := dimension_key(spec.name, axis, dim)) not in changed
    }


def drawn(job: InputsJob, plan: InputPlan, *, samples: int) -> Samples:
    """So many samples by the seed of the case. Raises BadModel where no values can be drawn."""
    recipe = job.case.inputs
    return random_inputs(
        job.case.model, seed=recipe.seed, samples=samples, batch=recipe.batch, fill=recipe.fill, plan=plan
    )


def _drawn_within(job: InputsJob, plan: InputPlan) -> tuple[Samples, InputPlan]:
    """As many samples as the case has; where nobody said how many, as few as make MOST products together, but FEWEST."""
    recipe = job.case.inputs
    if not recipe.fewer or recipe.samples <= FEWEST:
        return drawn(job, plan, samples=recipe.samples), plan
    products = _products_of(job, plan)
    if products * recipe.samples <= MOST:
        return drawn(job, plan, samples=recipe.samples), plan
    return drawn(job, plan, samples=max(FEWEST, MOST // products)), replace(plan, products=products)


def _products_of(job: InputsJob, plan: InputPlan) -> int:
    """Of one sample; 0 where it is small, or nobody knows."""
    (sample,) = drawn(job, plan, samples=1)
    shapes = {name: value.shape for name, value in sample.items() if isinstance(value, np.ndarray)}
    if sum(map(math.prod, shapes.values())) < LARGE:
        return 0
    flops, _ = flops_of(Path(job.case.model.source), shapes)
    return int(flops / 2)


def chosen(job: InputsJob, answer: Callable[[Samples], Samples]) -> tuple[Samples, Samples, InputPlan]:
    """Inputs, their answers, and the plan: the first that the reference answers with something to compare, if there is one without
    NaN; where none does, the first that it answers at all. Raises BadInputs where it takes none, and the graph says why; else what
    it raised at the first."""
    begin = time.monotonic()
    refusal: Exception | None = None
    stated = bool(job.case.inputs.ranges)
    poor: tuple[Samples, Samples, InputPlan] | None = None
    fair: tuple[Samples, Samples, InputPlan] | None = None
    answered_alike = False
    for plan in _plans(job):
        if (refusal or poor or fair) and time.monotonic() - begin > TRYING_S:
            break
        inputs, plan = _drawn_within(job, plan)
        try:
            outputs = answer(inputs)
        except (MemoryError, NotRunnable, Unsupported):
            # Other values would not change that.
            raise
        except Exception as error:  # noqa: BLE001  whatever an evaluator raises at inputs that it cannot take
            refusal = refusal or error
            continue
        # One input for all samples shows no more than different ones that are answered alike.
        if is_telling(outputs, inputs) and not (answered_alike and _all_alike(inputs)):
            if not _has_nan(outputs):
                return inputs, outputs, plan
            fair = fair or (inputs, outputs, plan)
            continue
        answered_alike = answered_alike or (is_telling(outputs) and not _all_alike(inputs))
        # A runtime may answer nonsense to sizes that the graph does not take.
        poor = poor or (None if plan.unmet and (plan.sizes or stated) else (inputs, outputs, plan))
    if fair is not None:
        return fair
    plan = new_plan(job)
    at_other_sizes = _at_other_sizes(job, answer, plan) if not plan.unmet else None
    if at_other_sizes is not None and (poor is None or is_telling(at_other_sizes[1], at_other_sizes[0])):
        return at_other_sizes
    if poor is not None:
        return poor
    # A graph that contradicts itself at its own fixed shapes is no matter of inputs.
    if plan.unmet and (plan.sizes or stated):
        raise BadInputs(_no_inputs(job, plan, plan.unmet)) from refusal
    assert refusal is not None
    raise refusal


def _at_other_sizes(
    job: InputsJob, answer: Callable[[Samples], Samples], plan: InputPlan
) -> tuple[Samples, Samples, InputPlan] | None:
    """Sizes that follow from values (of NonZero, Range, Compress, Slice) are no constraints of shapes alone: they are searched by asking
    the reference. The first answer without NaN in which every output of real numbers moves, else the first telling one, else the first
    one; None where there is none."""
    begin = time.monotonic()
    poor: tuple[Samples, Samples, InputPlan] | None = None
    fair: tuple[Samples, Samples, InputPlan] | None = None
    for sizes in other_sizes(plan, job.case.model, fixed=job.case.inputs.dims):
        if time.monotonic() - begin > SEARCHING_S:
            break
        other = replace(new_plan(job, sizes), changes=(noted(NoteCode.SIZES_BY_TRIAL),))
        tried = (other, *ascending(other, job.case.model), *whole_lengths(other, job.case.model))
        for attempt in tried if not other.unmet else ():
            try:
                inputs = drawn(job, attempt, samples=job.case.inputs.samples)
                outputs = answer(inputs)
            except MemoryError:
                raise
            except Exception:  # noqa: BLE001  whatever an evaluator raises at inputs that it cannot take
                continue
            attempt = attempt if attempt is other else replace(attempt, changes=(*other.changes, *attempt.changes))
            if is_telling(outputs, inputs):
                if not _has_nan(outputs) and _all_move(outputs):
                    return inputs, outputs, attempt
                fair = fair or (inputs, outputs, attempt)
            poor = poor or (inputs, outputs, attempt)
    return fair or poor


def _no_inputs(job: InputsJob, plan: InputPlan, unmet: Constraint) -> Note:
    """Which constraint is not met, and which sizes could be stated otherwise."""
    return noted(
        NoteCode.NO_INPUTS,
        model=job.case.model.source,
        unmet=unmet_note(unmet),
        dimensions=tuple(plan.sizes),
        sizes=tuple(plan.sizes.values()),
        stated=tuple(name for name in plan.sizes if name in job.case.inputs.dims) or tuple(plan.sizes)[-1:],
        ranges=len(job.case.inputs.ranges),
    )


def _plans(job: InputsJob) -> Iterator[InputPlan]:
    first = new_plan(job)
    return chain([first], alternatives(first, job.case.model))


def _has_nan(outputs: Sequence[dict[str, Tensor]]) -> bool:
    arrays = (array for sample in outputs for array in sample.values() if isinstance(array, np.ndarray))
    return any(bool(np.isnan(array).any()) for array in arrays if array.dtype.kind == "f")


def is_telling(outputs: Sequence[dict[str, Tensor]], inputs: Sequence[dict[str, Tensor]] = ()) -> bool:
    """Whether no output is empty, each is finite for the greater part, not all of them are constant, and samples of other `inputs` are
    not all answered alike."""
    if inputs and _all_alike(outputs, STILL) and not _all_alike(inputs):
        return False
    moving = False
    for name in outputs[0]:
        arrays = [sample[name] for sample in outputs if isinstance(sample.get(name), np.ndarray)]
        if any(array.size == 0 for array in arrays):
            return False
        numbers = [array.reshape(-1) for array in arrays if array.dtype.kind in "fiub"]
        if not numbers:
            moving = True
            continue
        flat = np.concatenate(numbers)
        if 2 * np.count_nonzero(np.isfinite(flat)) < flat.size:
            return False
        moving = moving or flat.size == 1 or _moves(flat)
    return moving


def _all_alike(samples: Sequence[dict[str, Tensor]], share: float = 0.0) -> bool:
    """Whether each sample has the tensors of the first, real numbers by `same_numbers`. Sequences and maps are not
    looked at."""
    first, *others = samples
    return bool(others) and all(
        name in sample and _alike(value, sample[name], share) for sample in others for name, value in first.items()
    )


def _alike(value: Tensor, other: Tensor, share: float) -> bool:
    if not isinstance(value, np.ndarray) or not isinstance(other, np.ndarray) or value.shape != other.shape:
        return False
    return same_numbers(value, other, share) if value.dtype.kind == "f" else bool(np.array_equal(value, other))


def _all_move(outputs: Sequence[dict[str, Tensor]]) -> bool:
    """Whether no output of real numbers is constant."""
    reals = (name for name, array in outputs[0].items() if isinstance(array, np.ndarray) and array.dtype.kind == "f")
    each = (np.concatenate([sample[name].reshape(-1) for sample in outputs]) for name in reals)
    return all(flat.size == 1 or _moves(flat) for flat in each)


def _moves(flat: Tensor) -> bool:
    """Whether its numbers differ: NaN beside one of them says nothing."""
    numbers = flat[~np.isnan(flat)] if flat.dtype.kind == "f" else flat
    return bool(numbers.size and (numbers != numbers[0]).any())
