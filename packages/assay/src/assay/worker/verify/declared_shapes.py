"""A shape that is neither what the reference gives nor what the model declares: the file says so itself, and no witness is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.finding import Finding, FindingCode, facts
from assay.core.model import Model
from assay.worker.verify.reference_comparison import Compared

Declared = Mapping[str, tuple[int | str, ...]]


def against_declarations(compared: Compared, model: Model) -> Compared:
    """The same findings; those of shapes that contradict the declaration say so. A model that contradicts itself declares nothing."""
    declared = {output.name: output.shape for output in model.outputs if output.shape != ("...",)}
    if model.contradictions:
        return compared
    comparisons, findings = compared
    return tuple(_comparison(comparison, declared) for comparison in comparisons), _all(findings, declared)


def _comparison(comparison: Comparison, declared: Declared) -> Comparison:
    evidence = comparison.evidence
    if evidence is not None:
        evidence = replace(evidence, findings=_all(evidence.findings, declared))
    return replace(comparison, findings=_all(comparison.findings, declared), evidence=evidence)


def _all(findings: Sequence[Finding], declared: Declared) -> tuple[Finding, ...]:
    return tuple(_contradicting(finding, declared) if _broken(finding, declared) else finding for finding in findings)


def _contradicting(finding: Finding, declared: Declared) -> Finding:
    stated = facts(declared=declared[finding.output])
    return replace(finding, code=FindingCode.DECLARED_SHAPE, facts={**finding.facts, **stated})


def _broken(finding: Finding, declared: Declared) -> bool:
    if finding.code is not FindingCode.SHAPE or finding.output not in declared:
        return False
    shape = declared[finding.output]
    return _fits(finding.facts["due"], shape) and not _fits(finding.facts["seen"], shape)


def _fits(sizes: Any, declared: Sequence[int | str]) -> bool:
    return len(sizes) == len(declared) and all(
        isinstance(due, str) or size == due for size, due in zip(sizes, declared, strict=True)
    )
