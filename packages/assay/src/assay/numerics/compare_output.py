"""One output, all samples together, against its reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from assay.core.case import Contract
from assay.core.comparison import Comparison, Evidence, Histogram, OutsideCount
from assay.core.dtype import is_floating
from assay.core.finding import Finding, FindingCode, WorstElement, facts
from assay.numerics import degenerate, histogram, text_outputs, ulp
from assay.numerics.accumulator import Accumulator, Point, merge
from assay.numerics.chunks import Piece, chunks, locate, over_blocks
from assay.numerics.element_types import ComputeType, as_real, compute_type_of, is_integer, real_name
from assay.numerics.error_envelope import Envelope
from assay.numerics.float32_pass import add_block, suits
from assay.numerics.float64_pass import Terms, add_wide, products
from assay.numerics.metrics import metrics, needs_products
from assay.numerics.reference_stats import ReferenceStats, survey
from assay.numerics.tolerance.default import limits
from assay.numerics.tolerance.fixed_limits import by_limits
from assay.ports import Tensor

FIRST_LOOK = 4096


def compare_output(
    name: str, actual: Sequence[Tensor], expected: Sequence[Tensor], contract: Contract, dtype: str, threads: int = 0
) -> Comparison:
    """The account of one output whose shapes agree sample by sample. ULPs count on the grid of `dtype`, the declared one.

    Complex numbers are compared by their real and imaginary parts (one more axis at the end of every index).
    """
    blank = Comparison(
        output=name,
        dtype=dtype,
        shape=actual[0].shape if actual else (),
        samples=len(actual),
        elements=sum(tensor.size for tensor in actual),
    )
    left, right = [as_real(tensor) for tensor in actual], [as_real(tensor) for tensor in expected]
    halves = any(array.shape != other.shape for array, other in zip(left, right, strict=True))
    lane = ComputeType.NONE if halves else compute_type_of(left, right)
    if lane is ComputeType.NONE:
        types = tuple(sorted({str(tensor.dtype) for tensor in (*actual, *expected)}))
        findings = (Finding("unsupported_dtype", name, FindingCode.INCOMPARABLE, facts(types=types)),)
        return _replace(blank, findings=findings, evidence=Evidence(findings, compared=False))
    if lane is ComputeType.TEXT:
        return _compare_text(blank, left, right)
    return _compare_numbers(blank, left, right, lane, contract, threads)


def _replace(comparison: Comparison, **changes: object) -> Comparison:
    import msgspec

    return msgspec.structs.replace(comparison, **changes)


def _compare_text(blank: Comparison, left: Sequence[Tensor], right: Sequence[Tensor]) -> Comparison:
    if not blank.elements:
        empty = degenerate.empty_reference(blank.output)
        return _replace(blank, degenerate=empty, uninformative=True, evidence=Evidence(degenerate=empty))
    wrong = text_outputs.differences(left, right)
    findings: tuple[Finding, ...] = ()
    if wrong:
        position, want, got = wrong[0]
        index = locate(position, [tensor.shape for tensor in left])
        numbers = facts(count=len(wrong), elements=blank.elements, index=index, expected=str(want), actual=str(got))
        findings = (Finding("values", blank.output, FindingCode.TEXTS, numbers),)
    share = len(wrong) / blank.elements
    used = math.inf if wrong else 0.0
    metrics = {"share_out_of_tolerance": share, "budget_used": used}
    evidence = Evidence(findings, budget=used, counts=(OutsideCount(0.0, 0.0, len(wrong)),))
    return _replace(blank, findings=findings, metrics=metrics, evidence=evidence)


def _compare_numbers(
    blank: Comparison,
    left: Sequence[Tensor],
    right: Sequence[Tensor],
    lane: ComputeType,
    contract: Contract,
    threads: int,
) -> Comparison:
    dtype = real_name(blank.dtype)
    reference = survey(right, lane, threads)
    rtol, atol = limits(contract, blank.output, dtype, reference.rms)
    total = sum(tensor.size for tensor in left)
    terms = Terms(lane, dtype, rtol, atol, reference.scale, total)
    real = is_floating(dtype)
    account = _account(left, right, terms, threads, real=real)
    if needs_products(account, reference):
        account.product, account.squared_expected = _products(left, right, terms.scale, threads)
    poor = degenerate.degenerate_reference(blank.output, reference, right, dtype)
    collapsed = degenerate.degenerate_output(blank.output, account, left, dtype)
    findings = _clashes(blank.output, account, left)
    if collapsed and degenerate.is_vanishing(reference, account, dtype):
        collapsed = degenerate.vanishing(collapsed, dtype, reference.peak)
    elif collapsed and (poor is None or poor.code is FindingCode.REFERENCE_REPEATED):
        findings.append(Finding("degenerate", blank.output, FindingCode.COLLAPSED, about=collapsed))
    if account.outside and not real:
        findings.append(_values(blank.output, account, left, total, terms))
    integers = is_integer(left[0].dtype) if left else False
    figures = metrics(account, reference, total)
    evidence = Evidence(
        tuple(findings),
        poor or collapsed,
        budget=figures["budget_used"] if account.clashing or (total and not real) else None,
        clashing=account.clashing,
        rms=reference.rms,
        peak=reference.peak,
        counts=(OutsideCount(rtol, atol, account.outside),) if total else (),
    )
    compared = _replace(
        blank,
        metrics=figures,
        share_at_bounds=degenerate.share_at_bounds(reference, right, dtype),
        uninformative=bool(poor),
        worst=tuple(_worst(point, left) for point in account.worst),
        error_histogram=histogram.by_octave(account.octaves, reference.scale),
        ulp_histogram=None if integers or not account.ulps.any() else _ulps(account),
        evidence=_with_corners(evidence, account.envelope or Envelope(), terms.scale, left),
    )
    return by_limits(compared, rtol, atol)


def _with_corners(evidence: Evidence, envelope: Envelope, scale: float, tensors: Sequence[Tensor]) -> Evidence:
    import msgspec

    return msgspec.structs.replace(evidence, corners=_corners(envelope, scale, tensors), slack=envelope.slack)


def _corners(envelope: Envelope, scale: float, tensors: Sequence[Tensor]) -> tuple[WorstElement, ...]:
    shapes = [tensor.shape for tensor in tensors]
    return tuple(
        WorstElement(locate(int(at), shapes), float(expected) / scale, float(actual) / scale)
        for at, expected, actual in zip(envelope.position, envelope.expected, envelope.actual, strict=True)
    )


def _account(left: Sequence[Tensor], right: Sequence[Tensor], terms: Terms, threads: int, *, real: bool) -> Accumulator:
    """`real`: with the elements that decide about other limits; whole numbers have the same limits for every choice."""
    fast = terms.lane is ComputeType.NARROW and suits(terms)
    first = _first_look(left, right, terms.scale) if real and terms.total > 4 * FIRST_LOOK else Envelope()

    def one(block: list[Piece]) -> Accumulator:
        account = Accumulator(envelope=first.copy() if real else None)
        with np.errstate(all="ignore"):
            if fast:
                add_block(account, chunks(block), terms)
                return account
            for piece in chunks(block):
                add_wide(account, piece, terms)
        return account

    return merge(over_blocks(one, left, right, threads))


def _first_look(left: Sequence[Tensor], right: Sequence[Tensor], scale: float) -> Envelope:
    """The envelope of a few elements, spread over the first sample: of all others few are above it."""
    ours, theirs = left[0].reshape(-1), right[0].reshape(-1)
    step = max(1, ours.size // FIRST_LOOK)
    actual, expected = ours[::step].astype(np.float64) * scale, theirs[::step].astype(np.float64) * scale
    with np.errstate(all="ignore"):
        error = np.abs(actual - expected)
        known = np.isfinite(actual) & np.isfinite(expected) & (error > 0)
    envelope, places = Envelope(), np.flatnonzero(known)
    actual, expected, error = actual[known], expected[known], error[known]
    envelope.add(np.abs(expected), error, expected, actual, step * places)
    return envelope


def _products(left: Sequence[Tensor], right: Sequence[Tensor], scale: float, threads: int) -> tuple[float, float]:
    def one(block: list[Piece]) -> list[tuple[float, float]]:
        with np.errstate(all="ignore"):
            return [products(piece, scale) for piece in chunks(block)]

    pairs = [pair for pairs in over_blocks(one, left, right, threads) for pair in pairs]
    return sum(product for product, _ in pairs), sum(energy for _, energy in pairs)


def _ulps(account: Accumulator) -> Histogram:
    return Histogram(tuple(float(edge) for edge in ulp.ULP_EDGES), tuple(int(number) for number in account.ulps))


def _worst(point: Point, tensors: Sequence[Tensor]) -> WorstElement:
    return WorstElement(locate(point.position, [tensor.shape for tensor in tensors]), point.expected, point.actual)


def _clashes(output: str, account: Accumulator, tensors: Sequence[Tensor]) -> list[Finding]:
    return [
        Finding(
            kind,
            output,
            FindingCode(kind),
            facts(count=int(clash.count)),
            tuple(_worst(point, tensors) for point in clash.first),
        )
        for kind, clash in account.clashes.items()
    ]


def _values(output: str, account: Accumulator, tensors: Sequence[Tensor], total: int, terms: Terms) -> Finding:
    counted = facts(outside=int(account.outside), elements=total, rtol=float(terms.rtol), atol=float(terms.atol))
    worst = _worst(account.worst[0], tensors)
    return Finding("values", output, FindingCode.SOME_BEYOND_LIMITS, counted, (worst,))


def reference_of(expected: Sequence[Tensor]) -> ReferenceStats:
    """The survey of a reference by itself: what `assay golden` shows of a recorded output."""
    real = [as_real(tensor) for tensor in expected]
    return survey(real, compute_type_of(real, real))
