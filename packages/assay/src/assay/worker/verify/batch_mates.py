"""Is the answer to a row the same beside other rows of its batch?"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.core.job import VerifyJob
from assay.core.model import Model
from assay.core.repeats import Instability, Pattern
from assay.models.goldens import Golden
from assay.ports import Tensor
from assay.worker.engine.checked_answer import checked
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.call_log import Answer, CallLog
from assay.worker.verify.input_sensitivity import perturbed
from assay.worker.verify.reference_comparison import Compare, evaluate_reference
from assay.worker.verify.same_bytes import distance, same_answer

_NAMELESS = ("", "...", "?")
ROUNDING = 1e-12
"""What the order of sums may change of a reference in double."""


def with_other_mates(
    job: VerifyJob, log: CallLog, rewritten: TransformedModel, golden: Golden, compare: Compare
) -> list[Instability] | None:
    """The first row of the first sample is asked for beside other rows. None where there are no others, or no telling what
    are rows. Only where its answer moves by more than is allowed, the reference is asked whether it should."""
    sample = golden.inputs[0]
    first_axes = (
        axes
        for _, axes in batch_axes(job.case.model, sample)
        if not any(axes.values()) and sample.keys() <= axes.keys()
    )
    several = [axes for axes in first_axes if rows_of(sample, axes) > 1]  # of others the sample itself asks for several
    other = _beside_others(sample, several[0]) if several else {}
    if not other:
        return None
    axes = several[0]
    same = log.ask(0)
    answer = answer_to(log, rewritten, other)
    if answer is None:
        return None
    before, after = (_first_row(answers, axes, log.but) for answers in (same, answer))
    if same_answer(after, before):
        return []
    apart, findings = compare([after], [before])
    if not findings and not any(comparison.findings for comparison in apart):
        return []
    try:
        expected = [_first_row(evaluate_reference(job, rewritten, feed)[0], axes, log.but) for feed in (sample, other)]
    except Exception:  # noqa: BLE001  nor that the model has an answer to them
        return []
    if distance(expected[1], expected[0]) > ROUNDING:
        return []
    names = [finding.output for comparison in apart for finding in comparison.findings] + [
        finding.output for finding in findings
    ]
    return [Instability(Pattern.BATCH_MATES, names[0], apart=apart, findings=findings)]


def answer_to(log: CallLog, rewritten: TransformedModel, inputs: Mapping[str, Tensor]) -> Answer | None:
    """The engine's answer to what is no sample. None where it does not take it: nobody promised that it does, and it proves nothing."""
    try:
        (fed,) = rewritten.fed([inputs])
        return checked(log.engine.run(fed))
    except Exception:  # noqa: BLE001  whatever it raises
        return None
    finally:
        log.interrupted()


def batch_axes(model: Model, sample: Mapping[str, Tensor]) -> list[tuple[str, dict[str, int]]]:
    """The dimensions that may be a batch, by their symbols: those that every input and output has once, with the axis of each. The one of
    the first axes comes first: of "sequence, batch, features" both may be it, and what the reference says of rows decides. Where there is
    none, the open first axes, whatever each is called: many exporters give every dimension a name of its own."""
    shapes = {spec.name: spec.shape for spec in (*model.inputs, *model.outputs)}
    symbols = [size for size in next(iter(shapes.values()), ()) if _is_named(size)]
    axes = {
        str(symbol): {name: shape.index(symbol) for name, shape in shapes.items()}
        for symbol in symbols
        if all(shape.count(symbol) == 1 for shape in shapes.values())
    }
    axes = axes or _first_axes(model)
    one_length = {
        symbol: found
        for symbol, found in axes.items()
        if all(array.ndim == len(shapes[name]) for name, array in sample.items())
        and len({array.shape[found[name]] for name, array in sample.items() if name in found}) == 1
    }
    return sorted(one_length.items(), key=lambda found: max(found[1].values()))


def _is_named(size: object) -> bool:
    return isinstance(size, str) and size not in _NAMELESS


def _first_axes(model: Model) -> dict[str, dict[str, int]]:
    """The first axis of each that has an open one; else the axis that is called as that of the first input. Inputs whose sizes are all
    known have no rows. None where anything else has open sizes, or an output has none."""
    shape = model.inputs[0].shape if model.inputs else ()
    if not shape or not isinstance(shape[0], str) or shape[0] == "...":
        return {}
    symbol = shape[0] if _is_named(shape[0]) else f"{model.inputs[0].name}[0]"
    axes = {}
    for spec in (*model.inputs, *model.outputs):
        if spec.shape.count(symbol) == 1:
            axes[spec.name] = spec.shape.index(symbol)
        elif spec.shape and isinstance(spec.shape[0], str) and spec.shape[0] != "...":
            axes[spec.name] = 0
        elif spec in model.outputs or any(isinstance(size, str) for size in spec.shape):
            return {}
    return {symbol: axes}


def rows_of(sample: Mapping[str, Tensor], axes: Mapping[str, int]) -> int:
    """How long the batch is."""
    return next((array.shape[axes[name]] for name, array in sample.items() if name in axes), 0)


def rows_at(array: Tensor, axis: int, begin: int, end: int | None = None) -> Tensor:
    """Rows along that axis."""
    part: Tensor = np.asarray(array)[(slice(None),) * axis + (slice(begin, end),)]
    return part


def _beside_others(sample: Mapping[str, Tensor], axes: Mapping[str, int]) -> dict[str, Tensor]:
    """The first row as it is, the others with other values of the same kind. Empty where there are none."""
    others = perturbed({name: rows_at(array, axes[name], 1, None) for name, array in sample.items()})
    firsts = {name: rows_at(array, axes[name], 0, 1) for name, array in sample.items()}
    return {name: np.concatenate([firsts[name], others[name]], axes[name]) for name in sample} if others else {}


def _first_row(answer: Mapping[str, Tensor], axes: Mapping[str, int], but: frozenset[str]) -> dict[str, Tensor]:
    """Whole where an output has no such axis: it is compared all the same."""
    return {
        name: rows_at(array, axes[name], 0, 1) if np.ndim(array) > axes.get(name, 99) else array
        for name, array in answer.items()
        if name not in but
    }
