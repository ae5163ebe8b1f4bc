"""Whether a loss is beyond doubt: it is measured by the answers of a float model, and one oracle alone blames nobody for it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.outcome import Outcome
from assay.core.policy import Goal
from assay.core.reference import Reference, ReferenceKind, Witness
from assay.core.result import ChangeResult, Result
from assay.core.result_parts import LossResult
from assay.judge import goal_rules
from assay.judge.expectations import matches
from assay.judge.metric_registry import AGAINST_FLOAT
from assay.judge.named_metrics import metrics
from assay.judge.witnesses import described
from assay.judge.words.advice import ConfiguredJob, command, to_compare, without_answers
from assay.task_metrics.registry import is_against_labels

TASK = "task."


def needs_reference(metric: str) -> bool:
    """Whether the metric compares with reference answers; one that compares with labels does not."""
    return not (metric.startswith(TASK) and is_against_labels(metric.removeprefix(TASK)))


def is_loss(metric: str, result: Result) -> bool:
    """Whether the metric says how far answers are from those of a float model, or of the model before a change."""
    if not isinstance(result, LossResult) or not result.against_float:
        return False
    return metric.startswith((AGAINST_FLOAT, TASK)) and needs_reference(metric)


def measured_by(result: LossResult) -> Reference:
    """Whose answers a loss is measured by: of two models that are compared those of the one that an oracle answered."""
    both = isinstance(result, ChangeResult) and result.float_reference.kind is not ReferenceKind.GIVEN
    return result.reference if both else result.float_reference


def is_vouched(result: LossResult) -> bool:
    """Whether the answers that a loss is measured by are a user's, right by definition, or those of two libraries. Answers that were
    given for a file that is there, too, are those of that file where a witness says so."""
    kinds = (ReferenceKind.ORACLE, ReferenceKind.GIVEN)
    return measured_by(result).kind not in kinds or voucher(result) is not None


def voucher(result: LossResult) -> Witness | None:
    """Who gives the same answers to the float model, and is of another library than its oracle."""
    library = measured_by(result).library
    return next(
        (witness for witness in result.float_witnesses if witness.agrees_with_reference and witness.library != library),
        None,
    )


def agreement(result: LossResult) -> str:
    """`; reference-f64 and onnxruntime-disable agree on the float model`, "" where nobody had to be asked."""
    witness = voucher(result)
    return f"; {described(measured_by(result))} and {witness.flow} agree on the float model" if witness else ""


def measures_nothing(result: LossResult) -> bool:
    """Whether an engine is measured by answers of its own library, or a change by answers that may be those of the new file, or that
    another engine gives otherwise, and nobody vouches for them."""
    reference = measured_by(result)
    if isinstance(result, ChangeResult) and dissenter(result) is not None:
        return True
    return (reference.kind is ReferenceKind.GIVEN or not reference.independent) and not is_vouched(result)


def unconfirmed(result: Result, configured: ConfiguredJob | None) -> str:
    """Why a change proves nothing where answers were given for the original and its file is there, too: they may be those of the new
    file, and a file is not compared with itself. In a sentence that ends with what would decide it; "" where another engine gives
    them to the original."""
    if (
        not isinstance(result, ChangeResult)
        or result.float_reference.kind is not ReferenceKind.GIVEN
        or is_vouched(result)
    ):
        return ""
    other = dissenter(result)
    if other is None:
        text = f"nobody else says that the given answers are those of '{result.original}'{_silent(result)}"
    else:
        text = f"the given answers are not those of '{result.original}': {other.flow} answers that file otherwise"
    return f"{text}; to decide it, leave them out, so that both files are evaluated on these inputs: {without_answers(result, configured)}"


def witness_needed(result: Result, goals: Iterable[Goal]) -> bool:
    """Whether a loss that is judged would rest on one oracle: it is beyond a limit, or measured by the engine's own library. A limit
    relative to another result is judged later: then a witness is needed in any case. So it is where an oracle says of two files that
    they are one model: one that is blind to what was changed would say so, too."""
    if not isinstance(result, LossResult) or is_vouched(result):
        return False
    if isinstance(result, ChangeResult) and (
        result.outcome is Outcome.OK or measured_by(result).kind is ReferenceKind.GIVEN
    ):
        return bool(result.against_float)
    if result.outcome is Outcome.MISMATCH:
        return False
    mine = [goal for goal in goals if matches(result.case, goal.case) and matches(result.flow, goal.flow)]
    figures = metrics(result) if mine else {}
    return any(
        is_loss(goal.metric, result)
        and goal.metric in figures
        and (
            measures_nothing(result)
            or goal_rules.needs_baseline(goal)
            or goal_rules.absolute(goal, figures[goal.metric]) is not None
        )
        for goal in mine
    )


def disputed_loss(result: LossResult, goal: Goal, configured: ConfiguredJob | None) -> str:
    """Why a loss beyond `goal` blames nobody, in a sentence that ends with what would decide it."""
    reference = described(measured_by(result))
    witness = dissenter(result)
    if witness is None:
        text = f"the loss is measured by {reference}, and nobody else vouches for its answers{_silent(result)}"
    else:
        differ = f"{witness.flow} and {reference} differ on the float model{_parted(witness)}"
        text = f"the loss is measured by answers that are disputed: {differ}"
    if result.float_reference.kind is ReferenceKind.GOLDEN:
        return f"{text}; {to_compare(result, configured)}"
    limit = (stated(goal),) if not goal_rules.needs_baseline(goal) else ()
    by_answers = command(result, configured, golden="ANSWERS.npz", require=limit)
    return f"{text}; to decide it, give the answers of the framework that the float model comes from, beside their inputs: {by_answers}"


def dissenter(result: LossResult) -> Witness | None:
    """Who answers otherwise than the oracle, where nobody vouches for it."""
    others = () if voucher(result) else result.float_witnesses
    return next((other for other in others if other.agrees_with_reference is False), None)


def disputed_sameness(result: LossResult, configured: ConfiguredJob | None) -> str:
    """Why it proves nothing that an oracle answers two files alike, in a sentence that ends with what would decide it; "" where no
    other engine answers one of them otherwise."""
    witness = dissenter(result)
    if witness is None:
        return ""
    text = f"{witness.flow} and {described(measured_by(result))}, which answers both files alike, differ on one of them{_parted(witness)}"
    return f"the reference is disputed: {text}; {to_compare(result, configured)}"


def _parted(witness: Witness) -> str:
    return f"; they part at node '{witness.node}'" if witness.node else ""


def _silent(result: LossResult) -> str:
    text = "; ".join(f"{witness.flow}: {witness.detail}" for witness in result.float_witnesses if witness.detail)
    return f" ({text})" if text else ""


def stated(goal: Goal) -> str:
    """The goal as `--require` takes it; one that is absolute."""
    sign, limit = goal_rules.limit_of(goal)
    return f"{goal.metric} {sign} {limit:.17g}"
