"""A rule that a service breaks, as a finding."""

from __future__ import annotations

from itertools import takewhile

from assay.core.finding import Fact, Finding, FindingCode, facts

_BEFORE, _MOST = 40, 120
"""Characters of a text that are kept: before the first that differs, and in all."""


def broken(rule: str, expected: Fact, actual: Fact, *, draws: int = 0) -> Finding:
    """By name of the rule; `draws` is how many tokens were drawn, where that matters. Of long texts what is around the first difference."""
    if isinstance(expected, str) and isinstance(actual, str):
        first = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(expected, actual, strict=False)))
        expected, actual = _around(expected, first), _around(actual, first)
    numbers = facts(rule=rule, expected=expected, actual=actual, draws=draws)
    return Finding("service", "text", FindingCode.SERVICE_RULE, numbers)


def _around(text: str, first: int) -> str:
    begin = max(0, first - _BEFORE) if len(text) > _MOST else 0
    end = begin + _MOST
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"
