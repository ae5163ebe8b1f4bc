"""A rule that a service breaks, as a finding."""

from __future__ import annotations

from assay.core.finding import Fact, Finding, FindingCode, facts


def broken(rule: str, expected: Fact, actual: Fact) -> Finding:
    """That rule is."""
    return Finding("service", "text", FindingCode.SERVICE_RULE, facts(rule=rule, expected=expected, actual=actual))
