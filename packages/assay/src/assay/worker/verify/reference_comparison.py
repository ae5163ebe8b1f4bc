"""What an engine's answers are compared with: the model it was given, and the model as it was before any transform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.core.comparison import Comparison
from assay.core.finding import Finding, FindingCode, facts
from assay.core.job import VerifyJob
from assay.core.note import Note, NoteCode, noted
from assay.core.outcome import Stage
from assay.errors import BadInputs, Lowering, NotRunnable, Unsupported
from assay.models.goldens import Golden
from assay.ports import Backend, Engine, Tensor, is_dynamic
from assay.worker.describe_exception import reason_of
from assay.worker.engine.checked_answer import checked
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.inputs.input_choice import inputs_at
from assay.worker.inputs.shape_points import Sizes, format_shapes, shape_points
from assay.worker.reference.reference_evaluation import QUANTIZED, evaluate
from assay.worker.stages import Stages

Samples = Sequence[Mapping[str, Tensor]]
Compared = tuple[tuple[Comparison, ...], tuple[Finding, ...]]
Compare = Callable[[Samples, Samples], Compared]
"""(actual, expected): one mapping for each sample."""


@dataclass(frozen=True)
class ReferenceComparison:
    """Answers compared with what was given and, where transforms changed the precision, with the float model.

    `unproven` is why there is nothing to compare them with, or none at that size; None where there is.
    """

    given: Compared
    against_float: tuple[Comparison, ...] = ()
    unproven: Note | None = None


def compare_to_reference(
    actual: Samples, golden: Golden, rewritten: TransformedModel, compare: Compare, against_float: Compare | None = None
) -> ReferenceComparison:
    """Where the model was quantized, its reference is the quantized model in the reference evaluator: how far that lies
    from the float model is the user's loss, not the backend's mistake; it is measured by `against_float` (default: `compare`)."""
    if rewritten.standard is None:
        given = compare(actual, golden.outputs)
        return ReferenceComparison(given, given[0] if rewritten.changed else ())
    lost, broken = (against_float or compare)(actual, golden.outputs)
    try:
        outputs = evaluate(rewritten.standard, rewritten.fed(golden.inputs), oracles=QUANTIZED)
    except Lowering as error:
        structural = tuple(finding for finding in broken if finding.kind != "values")
        why = noted(NoteCode.NO_QUANTIZED_REFERENCE, error=reason_of(error))
        return ReferenceComparison(((), structural), lost, why)
    return ReferenceComparison(compare(actual, outputs), lost)


def compare_at_shapes(
    job: VerifyJob, backend: Backend, engine: Engine, rewritten: TransformedModel, stages: Stages, compare: Compare
) -> ReferenceComparison:
    """The engine at the sizes that the case names, where the backend claims to take them all."""
    comparisons: list[Comparison] = []
    findings: list[Finding] = []
    for sizes in shape_points(job.case.inputs) if is_dynamic(backend) else []:
        sample = inputs_at(job, sizes)
        with stages.enter(Stage.RUN):
            (fed,) = rewritten.fed([sample])
            actual = _run(engine, fed, sizes, lambda: evaluate_reference(job, rewritten, sample))  # noqa: B023  called at once
        with stages.enter(Stage.COMPARE):
            try:
                expected = evaluate_reference(job, rewritten, sample)
            except Lowering as error:
                why = noted(NoteCode.NO_REFERENCE_AT_SIZES, sizes=format_shapes(sizes), error=reason_of(error))
                return ReferenceComparison((tuple(comparisons), tuple(findings)), unproven=why)
            compared = compare([actual], expected)
        comparisons += [_at(comparison, sizes) for comparison in compared[0]]
        findings += [finding_at(finding, sizes) for finding in compared[1]]
    return ReferenceComparison((tuple(comparisons), tuple(findings)))


def evaluate_reference(
    job: VerifyJob, rewritten: TransformedModel, sample: Mapping[str, Tensor]
) -> list[dict[str, Tensor]]:
    """The reference's answer to one sample that no golden has. Raises Lowering where there is none."""
    if rewritten.standard is not None:
        return evaluate(rewritten.standard, rewritten.fed([sample]), oracles=QUANTIZED)
    return evaluate(Path(job.case.model.source), [sample])


def _run(
    engine: Engine, feed: Mapping[str, Tensor], sizes: Sizes, reference: Callable[[], object]
) -> dict[str, Tensor]:
    """Raises as the engine does, the sizes named: a claim to take all sizes is broken. Raises BadInputs where the reference does
    not take them either: then the sizes are wrong, not the engine."""
    try:
        return checked(engine.run(feed))
    except (MemoryError, NotRunnable):
        raise
    except Exception as error:
        try:
            reference()
        except Unsupported:
            pass
        except Lowering as refusal:
            refused = noted(NoteCode.REFUSED_AT_SIZES, sizes=format_shapes(sizes), error=reason_of(refusal))
            raise BadInputs(refused) from error
        raise Lowering(noted(NoteCode.FAILED_AT_SIZES, sizes=format_shapes(sizes), error=reason_of(error))) from error


def _at(comparison: Comparison, sizes: Sizes) -> Comparison:
    findings = tuple(finding_at(finding, sizes) for finding in comparison.findings)
    return msgspec.structs.replace(comparison, at=format_shapes(sizes), findings=findings)


def finding_at(finding: Finding, sizes: Sizes) -> Finding:
    """The same, seen at these sizes."""
    at = facts(sizes=format_shapes(sizes))
    return Finding(finding.kind, finding.output, FindingCode.AT_SIZES, at, about=finding)
