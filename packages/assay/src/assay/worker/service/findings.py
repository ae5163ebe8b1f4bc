"""A rule that a service breaks, as a finding."""

from __future__ import annotations

from assay.core.finding import Fact, Finding, FindingCode, facts


def broken(rule: str, expected: Fact, actual: Fact, *, draws: int = 0) -> Finding:
    """By name of the rule; `draws` is how many tokens were drawn, where that matters."""
    numbers = facts(rule=rule, expected=expected, actual=actual, draws=draws)
    return Finding("service", "text", FindingCode.SERVICE_RULE, numbers)
