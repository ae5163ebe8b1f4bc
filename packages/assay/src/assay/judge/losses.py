"""Whether a loss is beyond doubt: it is measured by the answers of a float model, and one oracle alone blames nobody for it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.core.policy import Goal
from assay.core.reference import ReferenceKind, Witness
from assay.core.result import Outcome, Result
from assay.core.task_figures import is_against_labels
from assay.judge import goal_rules
from assay.judge.advice import Asked, command
from assay.judge.expectations import matches
from assay.judge.metric_registry import AGAINST_FLOAT
from assay.judge.metrics import metrics
from assay.judge.witnesses import described

TASK = "task."


def needs_reference(figure: str) -> bool:
    """Whether the figure compares with reference answers; one that compares with labels does not."""
    return not (figure.startswith(TASK) and is_against_labels(figure.removeprefix(TASK)))


def is_loss(figure: str, result: Result) -> bool:
    """Whether the figure says how far answers are from those of a float model, or of the model before a change."""
    return bool(result.against_float) and figure.startswith((AGAINST_FLOAT, TASK)) and needs_reference(figure)


def is_vouched(result: Result) -> bool:
    """Whether the answers that a loss is measured by are a user's, right by definition, or those of two libraries."""
    reference = result.float_reference
    return reference.kind is not ReferenceKind.ORACLE or voucher(result) is not None


def voucher(result: Result) -> Witness | None:
    """Who gives the same answers to the float model as its oracle, and is of another library."""
    library = result.float_reference.library
    return next((one for one in result.float_witnesses if one.agrees_with_reference and one.library != library), None)


def agreement(result: Result) -> str:
    """`; reference-f64 and onnxruntime-disable agree on the float model`, "" where nobody had to be asked."""
    witness = voucher(result)
    return f"; {described(result.float_reference)} and {witness.flow} agree on the float model" if witness else ""


def is_own_measure(result: Result) -> bool:
    """Whether an engine is measured by answers of its own library, and nobody vouches for them."""
    return not result.float_reference.independent and not is_vouched(result)


def witness_needed(result: Result, goals: Iterable[Goal]) -> bool:
    """Whether a loss that is judged would rest on one oracle: it is beyond a limit, or measured by the engine's own library. A limit
    relative to another result is judged later: then a witness is needed in any case."""
    if is_vouched(result) or result.outcome is Outcome.MISMATCH:
        return False
    mine = [one for one in goals if matches(result.case, one.case) and matches(result.flow, one.flow)]
    figures = metrics(result) if mine else {}
    return any(
        is_loss(goal.figure, result)
        and goal.figure in figures
        and (
            is_own_measure(result)
            or goal_rules.needs_baseline(goal)
            or goal_rules.absolute(goal, figures[goal.figure]) is not None
        )
        for goal in mine
    )


def disputed_loss(result: Result, goal: Goal, asked: Asked | None) -> str:
    """Why a loss beyond `goal` blames nobody, in a sentence that ends with what would decide it."""
    reference = described(result.float_reference)
    witness = next((one for one in result.float_witnesses if one.agrees_with_reference is False), None)
    if witness is None:
        silent = "; ".join(f"{one.flow}: {one.detail}" for one in result.float_witnesses if one.detail)
        told = f"the loss is measured by {reference}, and nobody else vouches for its answers{f' ({silent})' if silent else ''}"
    else:
        node = f"; they part at node '{witness.node}'" if witness.node else ""
        told = f"the loss is measured by answers that are disputed: {witness.flow} and {reference} differ on the float model{node}"
    limit = ["--require", stated(goal)] if not goal_rules.needs_baseline(goal) else []
    given = command(result, asked, "--golden", "ANSWERS.npz", *limit)
    return f"{told}; to decide it, give the answers of the framework that the float model comes from, beside their inputs: {given}"


def stated(goal: Goal) -> str:
    """The goal as `--require` takes it; one that is absolute."""
    sign, limit = goal_rules.limit_of(goal)
    return f"{goal.figure} {sign} {limit:.17g}"
