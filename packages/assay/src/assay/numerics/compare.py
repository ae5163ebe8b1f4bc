"""The comparator: structure, then NaN and infinity as classes, then degenerate outputs, then metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import msgspec
import numpy as np

from assay.core.case import Contract
from assay.core.comparison import Comparison, Evidence
from assay.core.dtype import CONTAINERS, dtype_name
from assay.core.finding import Finding
from assay.numerics.compare_output import compare_output
from assay.numerics.structure import check_structure
from assay.ports import Tensors


def compare_outputs(
    actual: Sequence[Tensors],
    expected: Sequence[Tensors],
    contract: Contract,
    *,
    expected_names: Sequence[str] | None = None,
    expected_dtypes: Mapping[str, str] | None = None,
    threads: int = 0,
) -> tuple[tuple[Comparison, ...], tuple[Finding, ...]]:
    """Compare the outputs of a flow with a reference; each item is one sample, name to array in the model's order.

    `expected_names` are the model's outputs in order (default: those of the reference), `expected_dtypes`
    their declared types (default: that of the reference). The reference may be wider than that, a float64 oracle: the
    type of `actual` is compared with the declared one, and values are compared in double without rounding the reference.
    `threads` 0: one per core, four at most; the metrics do not depend on it.

    Returns one Comparison for each output (without metrics where a shape is wrong), and every finding, those inside the
    comparisons included: no finding means that the outputs agree. A comparison that is `degenerate` without a finding
    agrees, but proves nothing. NaN equals NaN at the same place.
    """
    left = [{name: np.asarray(tensor) for name, tensor in sample.items()} for sample in actual]
    right = [{name: np.asarray(tensor) for name, tensor in sample.items()} for sample in expected]
    # Samples of a sequence may have more parts than the first.
    names = list(expected_names if expected_names is not None else dict.fromkeys(chain(*right)))
    declared = {name: dtype for name, dtype in (expected_dtypes or {}).items() if dtype not in CONTAINERS}
    findings = list(check_structure(left, right, names, declared))
    comparisons = []
    for name in names:
        pairs = [
            (sample[name], other[name])
            for sample, other in zip(left, right, strict=False)
            if name in sample and name in other
        ]
        if not pairs:
            continue
        known = tuple(finding for finding in findings if finding.output == name)
        dtype = declared.get(name, dtype_name(pairs[0][1].dtype))
        if all(pair.shape == other.shape for pair, other in pairs):
            ours, theirs = [pair for pair, _ in pairs], [other for _, other in pairs]
            comparison = compare_output(name, ours, theirs, contract, dtype, threads)
        else:
            shape, size = pairs[0][0].shape, sum(pair.size for pair, _ in pairs)
            comparison = Comparison(name, dtype, shape, len(pairs), size, evidence=Evidence(compared=False))
        if contract.published:
            comparison = _without_doubt(comparison)
        findings += comparison.findings
        comparisons.append(_with_findings(comparison, known))
    if contract.published or any(part.elements for part in comparisons):
        comparisons = [part if part.elements or part.findings else _empty(part) for part in comparisons]
    return tuple(comparisons), tuple(findings)


def _with_findings(comparison: Comparison, known: tuple[Finding, ...]) -> Comparison:
    evidence = comparison.evidence
    if evidence is not None:
        evidence = msgspec.structs.replace(evidence, findings=known + evidence.findings)
    return msgspec.structs.replace(comparison, findings=known + comparison.findings, evidence=evidence)


def _without_doubt(comparison: Comparison) -> Comparison:
    """The reference is the answer by definition, whatever it is."""
    evidence = comparison.evidence
    if evidence is not None:
        evidence = msgspec.structs.replace(evidence, degenerate=None, peak=0.0)
    return msgspec.structs.replace(comparison, degenerate=None, evidence=evidence)


def _empty(comparison: Comparison) -> Comparison:
    """Nothing is asked of an output without elements beyond its type and shape, which were compared. Where all are empty
    nothing was asked at all, and that is mistrusted."""
    evidence = msgspec.structs.replace(comparison.evidence or Evidence(), degenerate=None, budget=0.0)
    metrics = {**comparison.metrics, "budget_used": 0.0}
    return msgspec.structs.replace(comparison, degenerate=None, metrics=metrics, evidence=evidence)
