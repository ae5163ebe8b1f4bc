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

ROUNDING = 1e-12
"""What the order of sums may change of a reference in double."""


def with_other_mates(
    job: VerifyJob, log: CallLog, rewritten: TransformedModel, golden: Golden, compare: Compare
) -> list[Instability] | None:
    """The first row of the first sample is asked for beside other rows. None where there are no others, or no telling what
    are rows. Only where its answer moves by more than is allowed, the reference is asked whether it should."""
    sample = golden.inputs[0]
    other = _beside_others(sample) if rows_of(job.case.model, sample) > 1 else {}
    if not other:
        return None
    same = log.ask(0)
    answer = answer_to(log, rewritten, other)
    if answer is None:
        return None
    before, after = (_first_row(answers, log.but) for answers in (same, answer))
    if same_answer(after, before):
        return []
    apart, findings = compare([after], [before])
    if not findings and not any(comparison.findings for comparison in apart):
        return []
    try:
        expected = [_first_row(evaluate_reference(job, rewritten, feed)[0], log.but) for feed in (sample, other)]
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


def rows_of(model: Model, sample: Mapping[str, Tensor]) -> int:
    """Rows of the batch: the length of the first axis, where all inputs and outputs have the same symbol there; else 0."""
    firsts = {spec.shape[0] if spec.shape else 0 for spec in (*model.inputs, *model.outputs)}
    lengths = {array.shape[0] if array.ndim else 0 for array in sample.values()}
    symbol = next(iter(firsts), 0)
    alike = len(firsts) == len(lengths) == 1 and isinstance(symbol, str) and symbol not in ("", "...", "?")
    return int(lengths.pop()) if alike else 0


def _beside_others(sample: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The first row as it is, the others with other values of the same kind. Empty where there are none."""
    others = perturbed({name: array[1:] for name, array in sample.items()})
    return {name: np.concatenate([array[:1], others[name]]) for name, array in sample.items()} if others else {}


def _first_row(answer: Mapping[str, Tensor], but: frozenset[str]) -> dict[str, Tensor]:
    return {name: np.asarray(array)[:1] for name, array in answer.items() if name not in but}
