"""Does the engine keep the model's guards against zero? It is asked where they count, and judged there for itself."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from assay.core.comparison import Comparison
from assay.core.finding import Fact, Finding, FindingCode, facts
from assay.core.job import VerifyJob
from assay.numerics.tolerance.derived_tolerance import GuardedInputs
from assay.ports import Engine, Tensor, Tensors
from assay.worker.engine.checked_answer import checked
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.memory_layout import with_layout
from assay.worker.verify.reference_comparison import Compare

GUARDED = "inputs at which guards count"
BUDGET = "budget_used"


def check_guards(
    job: VerifyJob, engine: Engine, rewritten: TransformedModel, guarded: Sequence[GuardedInputs], compare: Compare
) -> tuple[Comparison, ...]:
    """The outputs that are beyond what is allowed there, at the first of these inputs where any is. None where the case is published as
    it is, where a transform has made another model, or where the engine does not take these inputs: nobody promised that it does."""
    if job.case.contract.published or rewritten.standard is not None:
        return ()
    asked = (_lost(job, engine, rewritten, each, compare) for each in guarded)
    return next((comparisons for comparisons in asked if comparisons), ())


def _lost(
    job: VerifyJob, engine: Engine, rewritten: TransformedModel, guarded: GuardedInputs, compare: Compare
) -> tuple[Comparison, ...]:
    try:
        (fed,) = rewritten.fed([guarded.inputs])
        answer = checked(engine.run(with_layout(fed, job.case.inputs.layout)))
    except Exception:  # noqa: BLE001  whatever it raises
        return ()
    names = [name for name in guarded.allowed if _is_beyond(answer.get(name), guarded, name)]
    if not names:
        return ()
    comparisons, _ = compare([{name: answer[name] for name in names}], [{name: guarded.oracle[name] for name in names}])
    described = _described(guarded.inputs)
    return tuple(_at(comparison, described) for comparison in comparisons if comparison.findings)


def _is_beyond(answer: Tensor | None, guarded: GuardedInputs, name: str) -> bool:
    """What is missing, or of another form, ordinary samples tell."""
    oracle = guarded.oracle[name]
    if not isinstance(answer, np.ndarray) or answer.shape != oracle.shape or answer.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        return not bool((np.abs(answer.astype(np.float64) - oracle) <= guarded.allowed[name]).all())


def _described(inputs: Tensors) -> dict[str, Fact]:
    """How many of its real numbers are zero, and from where to where they lie."""
    real = np.concatenate([array.ravel().astype(np.float64) for array in inputs.values() if array.dtype.kind == "f"])
    return facts(zeros=int((real == 0).sum()), count=real.size, least=float(real.min()), most=float(real.max()))


def _at(comparison: Comparison, asked: dict[str, Fact]) -> Comparison:
    """Its budget only where that is a number, and no doubt about constant answers: nothing is proved right by them."""
    findings = tuple(
        Finding(finding.kind, finding.output, FindingCode.GUARD_LOST, asked, about=finding)
        for finding in comparison.findings
    )
    metrics = {name: value for name, value in comparison.metrics.items() if name != BUDGET or np.isfinite(value)}
    return msgspec.structs.replace(comparison, at=GUARDED, findings=findings, metrics=metrics, degenerate=None)
