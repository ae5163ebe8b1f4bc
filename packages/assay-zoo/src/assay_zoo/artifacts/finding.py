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


def as_certain(name: str, finding: Finding) -> Check:
    return failed(name, finding) if finding.certain else undecided(name, finding)


def failed(name: str, finding: Finding) -> Check:
    return _check(name, CheckOutcome.FAILED, finding)


def undecided(name: str, finding: Finding) -> Check:
    return _check(name, CheckOutcome.UNDECIDED, finding)


def skipped(name: str, sentence: str) -> Check:
    return Check(f"artifacts.{name}", CheckOutcome.SKIPPED, sentence)


def passed(name: str, sentence: str) -> Check:
    return _check(name, CheckOutcome.PASSED, Finding(sentence=sentence))


def _check(name: str, outcome: CheckOutcome, finding: Finding) -> Check:
    return Check(f"artifacts.{name}", outcome, finding.sentence, finding.path, finding.line, executed=1)
