"""What is wrong with a part of a submission, and how it becomes a check."""

from __future__ import annotations

import msgspec

from assay_zoo.check import Check, CheckOutcome


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """`sentence` says all of it; `line` counts from 1, 0 for none. What is not `certain` is for a person to decide."""

    sentence: str
    path: str = ""
    line: int = 0
    certain: bool = True


def failed(name: str, finding: Finding) -> Check:
    return _check(name, finding, CheckOutcome.FAILED)


def as_certain(name: str, finding: Finding) -> Check:
    return failed(name, finding) if finding.certain else undecided(name, finding)


def undecided(name: str, finding: Finding) -> Check:
    return _check(name, finding, CheckOutcome.UNDECIDED)


def skipped(name: str, sentence: str) -> Check:
    return Check(name=f"artifacts.{name}", outcome=CheckOutcome.SKIPPED, sentence=sentence)


def passed(name: str, sentence: str) -> Check:
    return Check(name=f"artifacts.{name}", outcome=CheckOutcome.PASSED, sentence=sentence, executed=1)


def _check(name: str, finding: Finding, outcome: CheckOutcome) -> Check:
    return Check(
        name=f"artifacts.{name}",
        outcome=outcome,
        sentence=finding.sentence,
        path=finding.path,
        line=finding.line,
        executed=1,
    )
