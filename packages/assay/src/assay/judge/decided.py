"""Where the comparison proves nothing on a user's own data, limits that the user states decide: of the task's metric, or of an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase

import msgspec

from assay.core.comparison import Comparison, StatedMetric
from assay.core.evidence import blocking, is_drawn
from assay.core.outcome import Cause, Outcome
from assay.core.policy import Goal
from assay.core.result import ChangeResult, Result
from assay.core.result_parts import ComparedResult, LossResult, comparisons_of
from assay.core.verdict import VerdictStatus
from assay.judge.doubtful_loss import (
    TASK,
    agreement,
    disputed_loss,
    is_loss,
    is_vouched,
    measures_nothing,
    needs_reference,
)
from assay.judge.draft_verdict import DraftVerdict, Violation, quantity
from assay.judge.goal_rules import limit_of, needs_baseline
from assay.judge.job_outcome import findings_of
from assay.judge.metric_registry import AGAINST_FLOAT, NO_LIMIT_OF_ERROR
from assay.judge.named_metrics import stated_by
from assay.judge.witnesses import Doubt, doubt_of
from assay.judge.words.advice import ConfiguredJob

_METRIC = "task metric"
_LIMIT = "stated limit"
Kept = tuple[Goal, float]
"""A goal that a job meets, and what it recorded of its metric."""


def decides(metric: str, result: Result) -> bool:
    """Whether a limit of that metric says that an answer is close enough: a task metric, or an error against the reference."""
    if metric.startswith((TASK, AGAINST_FLOAT)):
        return True
    return any(_speaks_of(metric, comparison) for comparison in comparisons_of(result))


def is_open(draft: DraftVerdict) -> bool:
    """Whether the answers of the job are neither right nor wrong so far, on inputs that a user gave."""
    result = draft.result
    if (
        not isinstance(result, ComparedResult)
        or draft.word is not VerdictStatus.INCONCLUSIVE
        or not result.reference.own_inputs
    ):
        return False
    return draft.outcome is Outcome.MISTRUSTED or (_is_disputed(draft) and values_alone(result))


def decided(draft: DraftVerdict, kept: Sequence[Kept]) -> DraftVerdict | None:
    """The opinion that passes by these goals, None where they leave something open."""
    result = draft.result
    if result is None or not is_open(draft):
        return None
    usable = [(goal, value) for goal, value in kept if not needs_baseline(goal) and _counts(goal.metric, result)]
    if not _covers([goal.metric for goal, _ in usable], draft, result):
        return None
    text = ", ".join(_met(goal, value, stated_by(result)) for goal, value in usable)
    goal, value = usable[0]
    return DraftVerdict(
        draft.job_key,
        VerdictStatus.PASS,
        f"{_who(goal.metric for goal, _ in usable)} decides: {text}; without it inconclusive: {draft.doubt or draft.reason}",
        Outcome.OK,
        result,
        goal.metric,
        value,
        limit_of(goal)[1],
        by_stated_limit=True,
    )


def refused(draft: DraftVerdict, complaints: Sequence[Violation]) -> str:
    """The reason of one whose answers are open, and beyond a limit that decides; "" for any other."""
    result, failing = draft.result, [complaint for complaint in complaints if complaint.word is VerdictStatus.FAIL]
    if result is None or not is_open(draft) or not any(decides(complaint.metric, result) for complaint in failing):
        return ""
    texts = "; ".join(complaint.text for complaint in complaints)
    return f"{_who(complaint.metric for complaint in failing)} decides: {texts}; without it inconclusive: {draft.doubt or draft.reason}"


def weakened(draft: DraftVerdict, goal: Goal, complaint: Violation, configured: ConfiguredJob | None) -> Violation:
    """A goal that answers do not meet whose reference is in doubt blames nobody, unless it asks labels; nor does a loss against the
    float model whose own answers nobody vouches for."""
    result = draft.result
    if result is None or complaint.word is not VerdictStatus.FAIL or not decides(complaint.metric, result):
        return complaint
    if complaint.observed is not None and is_loss(goal.metric, result) and draft.word is not VerdictStatus.FAIL:
        assert isinstance(result, LossResult)
        if is_vouched(result):
            complaint = msgspec.structs.replace(complaint, text=complaint.text + agreement(result))
        else:
            text = f"{disputed_loss(result, goal, configured)}; seen: {complaint.text}"
            return msgspec.structs.replace(complaint, word=VerdictStatus.INCONCLUSIVE, text=text)
    doubtful = _is_disputed(draft) and needs_reference(complaint.metric)
    if doubtful or (is_open(draft) and not _counts(complaint.metric, result)):
        return msgspec.structs.replace(complaint, word=VerdictStatus.INCONCLUSIVE)
    return complaint


def _is_disputed(draft: DraftVerdict) -> bool:
    """Values differ from an oracle's, and no witness blames the engine."""
    result = draft.result
    return result is not None and draft.word is VerdictStatus.INCONCLUSIVE and doubt_of(result) is Doubt.REFERENCE


def values_alone(result: ComparedResult) -> bool:
    """Whether nothing else differs than how large numbers are: other shapes, or NaN, are no question of a limit."""
    return all(finding.kind == "values" for finding in findings_of(result))


def _counts(metric: str, result: Result) -> bool:
    """Metrics against an engine's own library, or against nobody, say nothing; those against labels do."""
    if not decides(metric, result):
        return False
    lost = result.against_float if isinstance(result, LossResult) else ()
    if isinstance(result, LossResult) and is_loss(metric, result) and measures_nothing(result):
        return False
    unanswered = result.cause is Cause.NO_REFERENCE and not lost
    alone = doubt_of(result) is Doubt.ITSELF or unanswered
    return not (alone and needs_reference(metric))


def _covers(figures: Iterable[str], draft: DraftVerdict, result: Result) -> bool:
    """Whether nothing is left open: a task metric speaks of the whole answer, an error of the outputs that have it, and no error of
    one that is drawn at random. Nor does a task metric beside others: what is wrong before a draw shows in that output alone."""
    figures = list(figures)
    of_task = any(metric.startswith(TASK) for metric in figures)
    lost = result.against_float if isinstance(result, LossResult) else ()
    every = (*comparisons_of(result), *lost)
    if any(map(is_drawn, every)) and not (of_task and len({output.output for output in every}) == 1):
        return False
    if of_task:
        return True
    if result.cause is Cause.NO_REFERENCE or isinstance(result, ChangeResult):
        return any(metric.startswith(AGAINST_FLOAT) for metric in figures)
    compared = comparisons_of(result)
    open_ = compared if _is_disputed(draft) else blocking(compared) or compared
    return bool(open_) and all(any(_speaks_of(metric, output) for metric in figures) for output in open_)


def _speaks_of(metric: str, comparison: Comparison) -> bool:
    name = metric.removeprefix(f"{comparison.output}.")
    return name in comparison.metrics and not any(fnmatchcase(name, pattern) for pattern in NO_LIMIT_OF_ERROR)


def _who(figures: Iterable[str]) -> str:
    return _METRIC if any(metric.startswith(TASK) for metric in figures) else _LIMIT


def _met(goal: Goal, value: float, stated: Mapping[str, StatedMetric]) -> str:
    sign, limit = limit_of(goal)
    unit = quantity(goal.metric, limit, stated).partition(" ")[2]
    name = goal.metric.removeprefix(TASK).replace("top1_", "top-1 ").replace("top5_", "top-5 ").replace("_", " ")
    return f"{name} {_number(value)} {sign} {_number(limit)}{' ' + unit if unit else ''}"


def _number(value: float) -> str:
    return f"{value:.3f}" if 0.001 <= abs(value) < 10.0 and len(f"{value:.6g}") <= 5 else f"{value:.4g}"
