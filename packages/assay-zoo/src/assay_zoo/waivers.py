"""Findings that somebody has accepted in writing: waived while the waiver lasts, and never in silence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.policy import Waiver

UNTIL, WAS = "waived_until", "waived_was"
"""Figures of a waived check: until when, and what it was before. Judged again later, it is that again."""
_OPEN = (CheckOutcome.FAILED, CheckOutcome.UNDECIDED)
"""What a person can decide."""


def waives(waivers: Sequence[Waiver], model: str, check: str, sentence: str, today: date) -> bool:
    """Whether one in force speaks of this very sentence: another finding of the same check is not accepted with it."""
    return any(
        waiver.model == model and waiver.check == check and waiver.match in sentence and waiver.expires >= today
        for waiver in waivers
    )


def expired(check: Check, today: date) -> Check:
    """A recorded check as it counts today: waived no longer where its waiver is over."""
    until = str(check.figures.get(UNTIL, ""))
    if check.outcome is not CheckOutcome.WAIVED or not until or until >= today.isoformat():
        return check
    was = CheckOutcome(str(check.figures.get(WAS, CheckOutcome.FAILED.value)))
    return msgspec.structs.replace(check, outcome=was, sentence=f"{check.sentence}, which is over")


def apply_waivers(
    checks: Sequence[Check], waivers: Sequence[Waiver], model: str, group: str, today: date
) -> list[Check]:
    """The same checks; a failure, or a question to a person, that a waiver in force speaks of becomes WAIVED. What a waiver did not do is
    told: that it expired, at the finding it was for; that nothing matched it, as a check of its own."""
    own = [waiver for waiver in waivers if waiver.model == model and waiver.check.partition(".")[0] == group]
    waived = [_waived(check, own, today) for check in checks]
    idle = [waiver for waiver in own if not any(_speaks_of(waiver, check) for check in checks)]
    return waived + [_unmatched(waiver, group) for waiver in idle]


def _waived(check: Check, waivers: Sequence[Waiver], today: date) -> Check:
    fitting = [waiver for waiver in waivers if _speaks_of(waiver, check)]
    for waiver in fitting:
        if waiver.expires >= today:
            words = f"{check.sentence} (waived until {waiver.expires} by {waiver.signed}: {waiver.reason})"
            figures = {**check.figures, UNTIL: waiver.expires.isoformat(), WAS: check.outcome.value}
            return msgspec.structs.replace(check, outcome=CheckOutcome.WAIVED, sentence=words, figures=figures)
    for waiver in fitting:
        words = f"{check.sentence} (a waiver signed by {waiver.signed} expired on {waiver.expires})"
        return msgspec.structs.replace(check, sentence=words)
    return check


def _speaks_of(waiver: Waiver, check: Check) -> bool:
    return check.outcome in _OPEN and check.name == waiver.check and waiver.match in check.sentence


def _unmatched(waiver: Waiver, group: str) -> Check:
    words = f"zoo.toml waives {waiver.match!r} of {waiver.check}, and nothing of the kind was found; remove the waiver"
    return Check(f"{group}.waivers", CheckOutcome.PASSED, words, "zoo.toml")
