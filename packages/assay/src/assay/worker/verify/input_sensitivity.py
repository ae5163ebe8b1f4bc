"""Where all samples of a case give one answer, an engine that ignores its inputs would give it, too: it is asked again.

The first sample is turned (in reversed order, and halved, so that neither sums nor norms stay as they are). Only where the
engine's answer stays the same bit by bit, the reference is asked whether it should.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.dtype import dtype_name
from assay.core.finding import Finding, FindingCode
from assay.core.job import VerifyJob
from assay.models.goldens import Golden
from assay.ports import Engine, Tensor
from assay.worker.engine.checked_answer import checked
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.memory_layout import with_layout
from assay.worker.verify.reference_comparison import Compare, evaluate_reference

_PERTURBED = ("float64", "float32", "float16", "bfloat16")
SHOWN_INPUTS = "other inputs"


@dataclass(frozen=True)
class SensitivityCheck:
    """The first sample and as turned, what the engine answers to it, and the outputs that the case's own samples leave unproven."""

    first: Mapping[str, Tensor]
    sample: Mapping[str, Tensor]
    answer: Mapping[str, Tensor]
    outputs: tuple[str, ...]


def perturb_input(
    job: VerifyJob, engine: Engine, rewritten: TransformedModel, golden: Golden
) -> SensitivityCheck | None:
    """None where the samples tell such an engine, where the case is published as it is, or where nothing can be turned."""
    outputs = _same_throughout(golden.outputs)
    sample = {} if job.case.contract.published or not outputs else perturbed(golden.inputs[0])
    if not sample:
        return None
    try:
        (fed,) = rewritten.fed([sample])
        answer = checked(engine.run(with_layout(fed, job.case.inputs.layout)))
        return SensitivityCheck(golden.inputs[0], sample, answer, outputs)
    except Exception:  # noqa: BLE001  nobody promised that the engine takes these inputs: then they prove nothing
        return None


def check_sensitivity(
    job: VerifyJob,
    rewritten: TransformedModel,
    probed: SensitivityCheck | None,
    first: Mapping[str, Tensor],
    compare: Compare,
) -> tuple[Comparison, ...]:
    """The outputs that stayed as in the `first` answer although the reference's move further than is allowed."""
    names = [name for name in probed.outputs if _same(probed.answer.get(name), first.get(name))] if probed else []
    if probed is None or not names:
        return ()
    try:
        before, after = (evaluate_reference(job, rewritten, sample) for sample in (probed.first, probed.sample))
    except Exception:  # noqa: BLE001  nor that the model has an answer to them
        return ()
    moved = {comparison.output for comparison in compare(before, after)[0] if comparison.findings}
    comparisons, _ = compare([probed.answer], after)
    return tuple(
        _at(comparison)
        for comparison in comparisons
        if comparison.output in moved.intersection(names) and comparison.findings
    )


def perturbed(sample: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The sample with other values of the same kind: numbers reversed and halved, or, where there are none, rows of
    integers reversed. Empty where that changes nothing."""
    changed = {name: _halved(array) for name, array in sample.items() if dtype_name(array.dtype) in _PERTURBED}
    if not changed:
        changed = {
            name: _reversed(array) for name, array in sample.items() if array.dtype.kind in "iu" and array.ndim > 1
        }
    if all(_same(array, sample[name]) for name, array in changed.items()):
        return {}
    return {**sample, **changed}


def _reversed(array: Tensor) -> Tensor:
    return array.reshape(-1)[::-1].copy().reshape(array.shape)


def _halved(array: Tensor) -> Tensor:
    return np.asarray(_reversed(array) * array.dtype.type(0.5), array.dtype)


def _same_throughout(outputs: Sequence[Mapping[str, Tensor]]) -> tuple[str, ...]:
    return tuple(
        name for name in outputs[0] if all(_same(outputs[0][name], output.get(name)) for output in outputs[1:])
    )


def _same(tensor: Tensor | None, other: Tensor | None) -> bool:
    if not isinstance(tensor, np.ndarray) or not isinstance(other, np.ndarray):
        return False
    if tensor.shape != other.shape or tensor.dtype != other.dtype:
        return False
    return np.array_equal(tensor, other) if tensor.dtype == object else tensor.tobytes() == other.tobytes()


def _at(comparison: Comparison) -> Comparison:
    findings = tuple(_inputs_ignored(finding) for finding in comparison.findings)
    return msgspec.structs.replace(comparison, at=SHOWN_INPUTS, findings=findings)


def _inputs_ignored(finding: Finding) -> Finding:
    return Finding(finding.kind, finding.output, FindingCode.INPUTS_IGNORED, about=finding)
