"""Counts are guarded: a flow that vanished, a suite that shrank and a run that executed nothing all fail."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.policy import Policy
from assay.core.verdict import Verdict, Word
from assay.judge.expectations import matches
from assay.judge.opinion import Opinion

EXECUTED = frozenset({Word.PASS, Word.FAIL, Word.XFAIL, Word.XPASS, Word.INCONCLUSIVE})

FIRST = "; the first: "
"""Before the verdict that stands for all: a report that has just told it may leave it out."""
EXIT_PASS, EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_ERROR, EXIT_NOTHING = 0, 1, 3, 4, 5


def too_few(opinions: Sequence[Opinion], policy: Policy) -> list[Verdict]:
    """A failing verdict on the run for each flow with fewer executed cases than its glob asks, or glob without flow."""
    executed: dict[str, set[str]] = {}
    for one in opinions:
        case, flow = one.cell
        cases = executed.setdefault(flow, set())
        if one.word in EXECUTED:
            cases.add(case)
    verdicts = []
    for glob, minimum in policy.minimum_cases.items():
        flows = [flow for flow in executed if matches(flow, glob)]
        if not flows:
            text = (
                f"no flow matches '{glob}', which must execute {minimum} cases: the flow vanished, or the glob is wrong"
            )
            verdicts.append(Verdict(Word.FAIL, text, figure="cases", observed=0.0, allowed=float(minimum)))
        for flow in flows:
            count = len(executed[flow])
            if count < minimum:
                text = (
                    f"flow '{flow}' executed {count} of at least {minimum} cases: bring the missing back, "
                    f"or lower minimum-cases '{glob}'"
                )
                verdicts.append(Verdict(Word.FAIL, text, figure="cases", observed=float(count), allowed=float(minimum)))
    return verdicts


def total(jobs: Sequence[Verdict], rules: Sequence[Verdict]) -> tuple[Verdict, int]:
    """What all verdicts (`jobs`: one each; `rules`: on the run) add up to, and the exit code.

    Nothing executed comes first (an error instead if the harness lost or broke jobs), then fail, error, inconclusive.
    """
    words = [one.word for one in jobs]
    errors = [one for one in jobs if one.word is Word.ERROR]
    if not errors and not any(word in EXECUTED for word in words):
        return Verdict(Word.ERROR, _nothing(jobs)), EXIT_NOTHING
    bad = [one for one in [*jobs, *rules] if one.word in (Word.FAIL, Word.XPASS)]
    if bad:
        return Verdict(Word.FAIL, f"FAIL: {_failures(words, len(rules))}{FIRST}{_named(bad[0])}"), EXIT_FAIL
    if errors:
        text = f"ERROR: {len(errors)} of {_jobs(len(jobs))} could not be judged{FIRST}{_named(errors[0])}"
        return Verdict(Word.ERROR, text), EXIT_ERROR
    open_ = [one for one in jobs if one.word is Word.INCONCLUSIVE]
    if open_:
        text = f"INCONCLUSIVE: {len(open_)} of {_jobs(len(jobs))} prove{'s' * (len(open_) == 1)} nothing{FIRST}{_named(open_[0])}"
        return Verdict(Word.INCONCLUSIVE, text), EXIT_INCONCLUSIVE
    return Verdict(Word.PASS, f"PASS: {_passes(words)}"), EXIT_PASS


def _jobs(count: int) -> str:
    return f"{count} job{'' if count == 1 else 's'}"


def _failures(words: Sequence[Word], broken_rules: int) -> str:
    parts = []
    if failed := words.count(Word.FAIL):
        parts.append(f"{failed} of {_jobs(len(words))} failed")
    if passed := words.count(Word.XPASS):
        parts.append(f"{_jobs(passed)} passed unexpectedly")
    if broken_rules:
        parts.append(f"{broken_rules} rule{'' if broken_rules == 1 else 's'} for the whole run broken")
    return ", ".join(parts)


def _passes(words: Sequence[Word]) -> str:
    text = f"{words.count(Word.PASS)} of {_jobs(len(words))} passed"
    for word, told in ((Word.XFAIL, "failed as expected"), (Word.SKIP, "skipped")):
        if count := words.count(word):
            text += f", {count} {told}"
    return text


def _nothing(jobs: Sequence[Verdict]) -> str:
    if not jobs:
        return "NOTHING EXECUTED: no job was planned; name at least one model and one flow"
    return f"NOTHING EXECUTED: all {_jobs(len(jobs))} were skipped{FIRST}{_named(jobs[0])}"


def _named(verdict: Verdict) -> str:
    return f"{verdict.job_key}: {verdict.reason}" if verdict.job_key else verdict.reason
