"""What the ranges of the types that a model declares explain of an engine's answers: NaN and infinities, and lost small numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import msgspec

from assay.core.finding import Finding, FindingCode, facts
from assay.core.job import VerifyJob
from assay.models.goldens import Golden
from assay.numerics.load_onnx import load_onnx
from assay.numerics.tolerance.comparator import ToleranceComparator
from assay.numerics.tolerance.fixed_limits import with_figures_of
from assay.worker.engine.transformed_model import TransformedModel
from assay.worker.verify.reference_comparison import Compared, ReferenceComparison, Samples, compare_to_reference

_RANGES = ("nan", "infinity")
"""Findings that the range of the model's own types may explain."""


def excuse_overflow(
    job: VerifyJob,
    actual: Samples,
    golden: Golden,
    rewritten: TransformedModel,
    judging: ToleranceComparator,
    compare: Callable[..., Compared],
    plain: Callable[..., Compared],
) -> ReferenceComparison:
    """The comparison; what the model itself gives within its own types counts as what is expected, and is reported. Where only flushing to
    zero explains it, that proves nothing."""
    held = before = compare_to_reference(actual, golden, rewritten, compare, plain)
    if judging.profile is None or rewritten.standard is not None or not held.given[1]:
        return held
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    # Imported here: the oracle takes as long as a small case, and environments with older releases of onnx do not have all of it.
    from assay.numerics.tolerance.simulate.overflow import excused
    from assay.numerics.tolerance.simulate.underflow import underflown

    try:
        model = load_onnx(job.case.model.source)
    except (DecodeError, OSError):
        return held  # an exported program or a factory: the types of its inner values are not declared
    arithmetic = judging.profile.header.arithmetic
    kinds = {finding.kind for finding in held.given[1]}
    if not kinds.isdisjoint(_RANGES):
        actual, counts = excused(model, golden.inputs, actual, golden.outputs, arithmetic)
        if counts:
            held = _excused(
                compare_to_reference(actual, golden, rewritten, compare, plain),
                counts,
                FindingCode.OUTSIDE_DECLARED_RANGE,
            )
            held = _with_evidence(held, before)
    if {finding.kind for finding in held.given[1]} != {"values"}:
        return held
    declared = "flush-to-zero" in job.flow.allowances
    for flushed in (declared, True):
        answers, counts = underflown(model, golden.inputs, actual, golden.outputs, arithmetic, flushed=flushed)
        reference_comparison = compare_to_reference(answers, golden, rewritten, compare, plain) if counts else held
        if not reference_comparison.given[1]:
            why = FindingCode.BELOW_NORMAL if flushed == declared else FindingCode.FLUSHED_TO_ZERO
            return _with_evidence(_excused(reference_comparison, counts, why, poor=flushed != declared), before)
    return held


def _with_evidence(held: ReferenceComparison, before: ReferenceComparison) -> ReferenceComparison:
    """With what was seen before anything was excused: fixed limits excuse nothing."""
    raw = {comparison.output: comparison for comparison in before.given[0]}
    comparisons = tuple(
        msgspec.structs.replace(comparison, evidence=with_figures_of(raw[comparison.output]))
        if comparison.output in raw
        else comparison
        for comparison in held.given[0]
    )
    return replace(held, given=(comparisons, held.given[1]))


def _excused(
    held: ReferenceComparison, counts: Mapping[str, int], why: FindingCode, *, poor: bool = False
) -> ReferenceComparison:
    """With what was not judged of each output; one most of whose elements were not judged, or which is `poor`, proves nothing."""
    comparisons = []
    for comparison in held.given[0]:
        if count := counts.get(comparison.output, 0):
            excused = Finding(
                "degenerate", comparison.output, why, facts(count=int(count), elements=comparison.elements)
            )
            mistrusted = poor or 2 * count > comparison.elements
            degenerate = excused if mistrusted else comparison.degenerate
            comparison = msgspec.structs.replace(
                comparison, excused=(*comparison.excused, excused), degenerate=degenerate
            )
        comparisons.append(comparison)
    return replace(held, given=(tuple(comparisons), held.given[1]))
