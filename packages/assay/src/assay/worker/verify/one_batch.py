"""Samples of one row each, asked for as one batch: does each row keep its answer?

A batch that is left open is 1 in most samples, and engines that are wrong at other sizes alone would never be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.compute_types import QUANTIZED
from assay.core.finding import Finding
from assay.core.job import VerifyJob
from assay.core.repeats import Instability, Pattern
from assay.models.goldens import Golden
from assay.models.input_plan.draw_plan import taken
from assay.numerics.structure import check_structure
from assay.ports import Backend, BuiltForSizes, Tensor, is_dynamic
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.batch_mates import ROUNDING, answer_to, batch_axes, rows_at, rows_of
from assay.worker.verify.call_log import Answer, CallLog
from assay.worker.verify.reference_comparison import Compare, evaluate_reference, finding_at
from assay.worker.verify.same_bytes import distance, same_answer

ROWS = 4
"""Samples that become one batch, at most, each of them once: a last row that is the first again would hide in a repeated sample."""
MANY_ROWS = 37
"""A batch of so many, in which samples repeat: an odd number, and beyond 32, where tails of vectors and of blocks begin."""
MANY_ROWS_BYTES = 4 * 2**20
"""Of its inputs and outputs, at most: an engine that has room for one row need not have it for so many."""


@dataclass(frozen=True)
class OneBatch:
    """Which samples may be the rows of one batch, along the dimension of that symbol: `axes` says where each input and output has it."""

    rows: tuple[int, ...]
    symbol: str
    axes: Mapping[str, int]


def takes_batches(job: VerifyJob, backend: Backend, golden: Golden) -> list[OneBatch]:
    """How samples can be one batch: in no way where the model, the case or the engine has its size fixed, where samples are calls of one
    sequence, where the engine itself may round by what is largest in the batch, and where the graph forbids so many rows: a state of
    zeros that is stored for one row, of which an engine may read more than there is."""
    built = isinstance(backend, BuiltForSizes) and backend.needs_sizes
    if built or not is_dynamic(backend) or golden.lock.sequences or job.flow.precision in QUANTIZED:
        return []
    samples = golden.inputs[:ROWS]
    alike = {tuple((name, array.shape, array.dtype) for name, array in sample.items()) for sample in samples}
    if len(samples) < 2 or len(alike) != 1:
        return []
    size = sum(array.nbytes for sample in (golden.inputs[0], golden.outputs[0]) for array in sample.values())
    ways = {
        symbol: (axes, mates)
        for symbol, axes in batch_axes(job.case.model, samples[0])
        if symbol not in job.case.inputs.dims
        and rows_of(samples[0], axes) == 1
        and len(mates := _mates(samples, axes)) > 1
        and all(_is_one_row(golden.outputs[number], axes) for number in mates)
    }
    batches = [
        OneBatch(tuple(mates[at % len(mates)] for at in range(count or len(mates))), symbol, axes)
        for count in ((0, MANY_ROWS) if size * MANY_ROWS <= MANY_ROWS_BYTES else (0,))
        for symbol, (axes, mates) in ways.items()
    ]
    shapes = [{name: _shape(array, way, name) for name, array in samples[0].items()} for way in batches]
    return [way for way, is_taken in zip(batches, taken(job.case.model, shapes), strict=True) if is_taken]


def _shape(array: Tensor, way: OneBatch, name: str) -> tuple[int, ...]:
    """In the batch."""
    axis = way.axes.get(name)
    return tuple(len(way.rows) if at == axis else size for at, size in enumerate(array.shape))


def _mates(samples: Sequence[Mapping[str, Tensor]], axes: Mapping[str, int]) -> list[int]:
    """The samples that have the same of what has no rows as the first one."""
    return [
        number
        for number, sample in enumerate(samples)
        if all(name in axes or np.array_equal(array, samples[0][name]) for name, array in sample.items())
    ]


def _is_one_row(answer: Mapping[str, Tensor], axes: Mapping[str, int]) -> bool:
    """Not so where a model makes several rows of one, as a reshape to [-1, 4] does, or leaves some out."""
    return all(np.shape(array)[axes[name] :][:1] == (1,) for name, array in answer.items() if name in axes)


def as_one_batch(
    job: VerifyJob, log: CallLog, rewritten: TransformedModel, golden: Golden, compare: Compare, one: OneBatch
) -> list[Instability] | None:
    """Samples as one batch. None where the engine does not take it. Only where a row is wrong by the tolerance of its sample, the
    reference is asked whether rows are independent."""
    samples = [golden.inputs[number] for number in one.rows]
    batch = {
        name: np.concatenate([sample[name] for sample in samples], one.axes[name]) if name in one.axes else array
        for name, array in samples[0].items()
    }
    answer = answer_to(log, rewritten, batch)
    if answer is None:
        return None
    firsts = [first for _, first in sorted(log.firsts.items())]
    wrong: tuple[Comparison, ...] = ()
    differing = {0: firsts[0]}
    if _has_rows(answer, firsts[0], one, log.but):
        differing = _differing(answer, log, one)
        if not differing:
            return []
        wrong, findings = compare([differing.get(at, first) for at, first in enumerate(firsts)], golden.outputs)
    else:
        findings = _of_another_form(answer, firsts[0], one, log.but)
    found = _all(wrong, findings)
    if not found or _all(*compare(firsts, golden.outputs)):
        return []
    together = _of_independent_rows(job, rewritten, golden, batch, one, log.but)
    if together is None or not _has_rows(together, firsts[0], one, log.but):
        return []
    due = _differing(_typed(together, firsts[0]), log, one)
    if _all(*compare([due.get(at, first) for at, first in enumerate(firsts)], golden.outputs)):
        return []  # beside a number as large as a mask's, what rows have of each other is as little as rounding
    slim = tuple(without_pictures(comparison) for comparison in wrong)
    return [
        Instability(Pattern.BATCH_MATES, found[0].output, min(differing), findings=findings, against_reference=slim)
    ]


def _differing(answer: Answer, log: CallLog, one: OneBatch) -> dict[int, Answer]:
    """Of each sample the row that lies farthest from its first answer; of those that keep it, none."""
    farthest: dict[int, Answer] = {}
    apart: dict[int, float] = {}
    for at, number in enumerate(one.rows):
        row = _row(answer, at, log.firsts[number], log.but, one.axes)
        if same_answer(row, log.firsts[number], log.but):
            continue
        size = distance(row, log.firsts[number], log.but)
        if size >= apart.get(number, 0.0):
            farthest[number], apart[number] = row, size
    return farthest


def without_pictures(comparison: Comparison) -> Comparison:
    """What is not shown of an answer that is not the first one."""
    return msgspec.structs.replace(comparison, error_histogram=None, ulp_histogram=None, actual=None)


def _all(comparisons: Sequence[Comparison], findings: Sequence[Finding]) -> list[Finding]:
    return [*findings, *(finding for comparison in comparisons for finding in comparison.findings)]


def _has_rows(answer: Answer, first: Answer, one: OneBatch, but: frozenset[str]) -> bool:
    """Whether it has the same outputs as the first answer to a sample, each with a row for each sample."""
    return answer.keys() == first.keys() and all(
        np.shape(array)[one.axes.get(name, 0) :][:1] == (len(one.rows),)
        for name, array in answer.items()
        if name not in but
    )


def _of_another_form(answer: Answer, first: Answer, one: OneBatch, but: frozenset[str]) -> tuple[Finding, ...]:
    due = {}
    for name, array in first.items():
        shape = [*array.shape]
        axis = one.axes.get(name, 0)
        shape[axis : axis + 1] = [len(one.rows)]
        due[name] = np.broadcast_to(np.zeros((), array.dtype), shape)
    differences = check_structure([answer], [due], list(first), {})
    return tuple(
        finding_at(finding, {one.symbol: len(one.rows)}) for finding in differences if finding.output not in but
    )


def _row(answer: Answer, at: int, first: Answer, but: frozenset[str], axes: Mapping[str, int]) -> Answer:
    """What is drawn at random is the same nowhere: there the first answer stands."""
    return {
        name: first[name] if name in but else rows_at(array, axes.get(name, 0), at, at + 1)
        for name, array in answer.items()
    }


def _of_independent_rows(
    job: VerifyJob,
    rewritten: TransformedModel,
    golden: Golden,
    batch: Mapping[str, Tensor],
    one: OneBatch,
    but: frozenset[str],
) -> Answer | None:
    """The reference's answer to the batch. None where it is not that to each row."""
    try:
        (together,) = evaluate_reference(job, rewritten, batch)
        alone = {number: evaluate_reference(job, rewritten, golden.inputs[number])[0] for number in set(one.rows)}
        rows = {name: np.concatenate([alone[at][name] for at in one.rows], one.axes[name]) for name in together}
    except Exception:  # noqa: BLE001  nor that the model has an answer to them, one with rows
        return None
    return together if distance(together, rows, but) <= ROUNDING else None


def _typed(answer: Answer, first: Answer) -> Answer:
    """In the types of the first one."""
    return {name: array.astype(first[name].dtype) for name, array in answer.items()}
