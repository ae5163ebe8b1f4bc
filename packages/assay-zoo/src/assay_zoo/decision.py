"""Promote, decline, or a person: a pure function of what the checks found and of the zoo's policy."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.policy import Rules


class Answer(StrEnum):
    """RETRY: the machine failed, nobody is to blame, and the submission is looked at again."""

    PROMOTE = "promote"
    DECLINE = "decline"
    PERSON = "needs a person"
    RETRY = "retry"


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """`reasons` are the sentences that led to the answer, all of them, the checks' names first."""

    answer: Answer
    reasons: tuple[str, ...]


def decide(checks: Sequence[Check], rules: Rules = Rules()) -> Decision:
    """What to do with a submission. A failure declines whatever else happened; infrastructure alone never does;
    nothing executed never promotes."""
    failed = [check for check in checks if check.outcome is CheckOutcome.FAILED]
    declining = [check for check in failed if check.group not in rules.person]
    if declining:
        return Decision(answer=Answer.DECLINE, reasons=_sentences(failed))
    broken = [check for check in checks if check.outcome is CheckOutcome.INFRASTRUCTURE]
    if broken:
        return Decision(answer=Answer.RETRY, reasons=_sentences(broken))
    unsure = [check for check in checks if check.outcome is CheckOutcome.UNDECIDED or check in failed]
    missing = [name for name in rules.required if not _executed(checks, name)]
    if unsure or missing:
        unseen = tuple(f"{name}: nothing was executed" for name in missing)
        return Decision(answer=Answer.PERSON, reasons=(*_sentences(unsure), *unseen))
    if rules.human:
        return Decision(answer=Answer.PERSON, reasons=("no check failed; the zoo's policy asks a person to promote",))
    ran, left = sum(check.executed for check in checks), sum(check.outcome is CheckOutcome.SKIPPED for check in checks)
    skipped = f", {left} skipped" if left else ""
    sentence = f"{len(checks) - left} checks passed{skipped}, {ran} cases executed"
    return Decision(answer=Answer.PROMOTE, reasons=(sentence,))


def _executed(checks: Sequence[Check], group: str) -> bool:
    ran = (CheckOutcome.PASSED, CheckOutcome.WAIVED)
    return any(check.group == group and check.outcome in ran and check.executed for check in checks)


def _sentences(checks: Sequence[Check]) -> tuple[str, ...]:
    return tuple(f"{check.name}: {check.sentence}" for check in checks)
