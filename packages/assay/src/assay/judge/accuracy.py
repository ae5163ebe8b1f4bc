"""Whether the recorded comparison is within the policy: a fact judged again each time the policy changes."""

from __future__ import annotations

import math
from collections.abc import Iterator

from assay.core.comparison import Comparison
from assay.core.evidence import blocking
from assay.core.finding import Finding, FindingCode
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import ChangeResult, PerNodeResult, Result
from assay.core.result_parts import ComparedResult
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import Violation, quantity
from assay.judge.words.clause import as_clause
from assay.judge.words.element_text import element_text
from assay.judge.words.finding_text import finding_text, names_its_output


def violations(result: Result, policy: Policy) -> list[Violation]:
    """FAIL for each defect of the outputs, INCONCLUSIVE for each that proves nothing; none: all is within policy.

    Findings of kinds other than `values` fail whatever the limits. `values` is judged by `budget_used` of that output
    against `policy.budget_max`; a NaN is never within it. A recorded mismatch that the budget does not explain stands.
    """
    if not isinstance(result, ComparedResult):
        return []
    violated = [*_structural(result, policy), *_over_budget(result, policy), *_poor(result)]
    if not violated and result.outcome is Outcome.MISMATCH and not _excused(result, policy):
        why = result.detail or "the record does not say where"
        return [Violation(VerdictStatus.FAIL, f"mismatch: {why}; run the job again to see the outputs")]
    return violated


def worst_budget(result: Result) -> float | None:
    """The largest `budget_used` of all outputs, None where none was recorded."""
    budgets = _budgets(result) if isinstance(result, ComparedResult) else []
    return max((value for _, value in budgets), default=None)


def _findings(result: ComparedResult) -> list[Finding]:
    """Each finding once, although a record may hold it with its output and with the whole job."""
    findings = [*result.findings, *(finding for comparison in result.comparisons for finding in comparison.findings)]
    return list(dict.fromkeys(findings))


def _budgets(result: ComparedResult) -> list[tuple[Comparison, float]]:
    return [
        (comparison, comparison.metrics["budget_used"])
        for comparison in result.comparisons
        if "budget_used" in comparison.metrics
    ]


def _excused(result: ComparedResult, policy: Policy) -> set[str]:
    """Outputs beyond their tolerance that the policy's budget accepts."""
    return {budget.output for budget, used in _budgets(result) if 1.0 < used <= policy.budget_max}


def _structural(result: ComparedResult, policy: Policy) -> Iterator[Violation]:
    over = {budget.output for budget, used in _budgets(result) if not used <= policy.budget_max}
    told_by_figure = over | _excused(result, policy)
    for finding in _findings(result):
        if finding.kind == "values" and finding.output in told_by_figure:
            continue
        where = "" if not finding.output or names_its_output(finding) else f"output '{finding.output}': "
        yield Violation(
            VerdictStatus.FAIL,
            f"{finding.kind.replace('_', ' ')}: {where}{as_clause(finding_text(finding))}",
            advice=f"no tolerance excuses this, fix the {_at_fault(result)}",
        )


def _over_budget(result: ComparedResult, policy: Policy) -> Iterator[Violation]:
    for budget, used in sorted(_budgets(result), key=lambda pair: (not math.isnan(pair[1]), -pair[1])):
        if used <= policy.budget_max:
            continue
        text = (
            f"output '{budget.output}'{_at(budget)}: {_guard(budget)}budget used {quantity('budget_used', used)}, "
            f"allowed {policy.budget_max:.4g}{_largest(budget)}{_where(budget)}"
        )
        yield Violation(VerdictStatus.FAIL, text, "budget_used", used, policy.budget_max, _to_mend(result, budget))


def _to_mend(result: ComparedResult, budget: Comparison) -> str:
    """A tolerance is stated of outputs of the model, not of what lies inside."""
    fix = f"fix the {_at_fault(result)}"
    if isinstance(result, PerNodeResult):
        return fix
    return f'{fix}, or allow more in [model.tolerance."{budget.output}"] if that error is acceptable'


def _at_fault(result: ComparedResult) -> str:
    return "file" if isinstance(result, ChangeResult) else "flow"


def _guard(comparison: Comparison) -> str:
    """What the inputs were, where the model's own guards are asked."""
    lost = [finding for finding in comparison.findings if finding.code is FindingCode.GUARD_LOST]
    return "".join(f"{as_clause(finding_text(finding))}; " for finding in lost[:1])


def _at(comparison: Comparison) -> str:
    return f" at {comparison.at}" if comparison.at else ""


def _largest(comparison: Comparison) -> str:
    return f" (max_abs {comparison.metrics['max_abs']:.4g})" if "max_abs" in comparison.metrics else ""


def _where(comparison: Comparison) -> str:
    if not comparison.worst:
        return ""
    worst = comparison.worst[0]
    return (
        f"; worst at {list(worst.index)}: expected {element_text(worst.expected)}, actual {element_text(worst.actual)}"
    )


def _poor(result: ComparedResult) -> Iterator[Violation]:
    undecided = set(map(id, blocking(result.comparisons)))
    for comparison in result.comparisons:
        if id(comparison) in undecided:
            text = f"output '{comparison.output}'{_at(comparison)}: {finding_text(comparison.degenerate)}; it proves nothing"
            yield Violation(VerdictStatus.INCONCLUSIVE, text)
        elif "budget_used" not in comparison.metrics and not comparison.findings and not comparison.degenerate:
            text = f"output '{comparison.output}'{_at(comparison)} has no budget_used: nothing shows how far it is off"
            yield Violation(VerdictStatus.INCONCLUSIVE, text)
