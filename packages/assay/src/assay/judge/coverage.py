"""Counts are guarded: a flow that vanished, a suite that shrank and a run that executed nothing all fail."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from assay.core.outcome import Cause, Outcome
from assay.core.policy import Policy
from assay.core.verdict import RunSummary, Verdict, VerdictStatus
from assay.judge.draft_verdict import DraftVerdict, is_refusal
from assay.judge.expectations import matches
from assay.judge.outcome_table import LEAST, OUTCOMES, outcome_words

EXECUTED = frozenset(
    {VerdictStatus.PASS, VerdictStatus.FAIL, VerdictStatus.XFAIL, VerdictStatus.XPASS, VerdictStatus.INCONCLUSIVE}
)
FAILED = frozenset({VerdictStatus.FAIL, VerdictStatus.XPASS})
EXIT_PASS, EXIT_FAIL, EXIT_BAD_INPUT, EXIT_INCONCLUSIVE, EXIT_ERROR, EXIT_NOTHING = 0, 1, 2, 3, 4, 5
BROKEN_CASE = frozenset({Cause.NOT_MADE, Cause.INVALID_FILE})
"""The model itself cannot be used: no backend is at fault."""


def too_few(opinions: Sequence[DraftVerdict], policy: Policy) -> list[Verdict]:
    """A failing verdict on the run for each flow with fewer executed cases than its glob asks, or glob without flow."""
    executed: dict[str, set[str]] = {}
    for opinion in opinions:
        case, flow = opinion.cell
        cases = executed.setdefault(flow, set())
        if opinion.word in EXECUTED:
            cases.add(case)
    verdicts = []
    for glob, minimum in policy.minimum_cases.items():
        flows = [flow for flow in executed if matches(flow, glob)]
        if not flows:
            text = (
                f"no flow matches '{glob}', which must execute {minimum} cases: the flow vanished, or the glob is wrong"
            )
            verdicts.append(Verdict(VerdictStatus.FAIL, text, metric="cases", observed=0.0, allowed=float(minimum)))
        for flow in flows:
            count = len(executed[flow])
            if count < minimum:
                text = (
                    f"flow '{flow}' executed {count} of at least {minimum} cases: bring the missing back, "
                    f"or lower minimum-cases '{glob}'"
                )
                verdicts.append(
                    Verdict(VerdictStatus.FAIL, text, metric="cases", observed=float(count), allowed=float(minimum))
                )
    return verdicts


def absent_shards(missing: Sequence[str]) -> list[Verdict]:
    """One error: nobody knows what those jobs were."""
    if not missing:
        return []
    text = f"{_are_missing(missing)}: what is there was judged; run the rest, and merge all files again"
    return [Verdict(VerdictStatus.ERROR, text)]


def _are_missing(shards: Sequence[str]) -> str:
    return f"shard{'s' * (len(shards) > 1)} {', '.join(shards)} {'are' if len(shards) > 1 else 'is'} missing"


def total(
    opinions: Sequence[DraftVerdict], rules: Sequence[Verdict], missing: Sequence[str] = ()
) -> tuple[Verdict, RunSummary, int]:
    """What all opinions, the rules for the run that are broken and its missing shards add up to, in one sentence and in its parts, and
    the exit code.

    Nothing executed comes first (an error instead if the harness lost or broke jobs), then fail, error, inconclusive. The
    gravest job is named. Where models are broken and nothing else fails, the input is bad, as `assay check` has it.
    """
    jobs = [opinion.verdict() for opinion in sorted(opinions, key=_severity)]
    words = [job.word for job in jobs]
    errors = [job for job in jobs if job.word is VerdictStatus.ERROR]
    if not errors and not any(word in EXECUTED for word in words):
        summary = RunSummary(_nothing(jobs, opinions), _named(jobs[0]) if jobs else "")
        return Verdict(VerdictStatus.ERROR, summary.text()), summary, EXIT_NOTHING
    bad = [verdict for verdict in [*jobs, *rules] if verdict.word in FAILED]
    if bad:
        code = (
            EXIT_FAIL
            if rules or any(opinion.word in FAILED and not _is_broken(opinion) for opinion in opinions)
            else EXIT_BAD_INPUT
        )
        return _total(VerdictStatus.FAIL, RunSummary(_failures(words, len(rules), missing), _named(bad[0])), code)
    if errors:
        counts = f"{len(errors)} of {_jobs(len(jobs))} could not be judged"
        return _total(VerdictStatus.ERROR, RunSummary(counts, _named(errors[0])), EXIT_ERROR)
    if missing:
        counts = f"{_passes(words)}{_skipped(opinions)}, and {_are_missing(missing)}"
        return _total(VerdictStatus.ERROR, RunSummary(counts), EXIT_ERROR)
    open_ = [job for job in jobs if job.word is VerdictStatus.INCONCLUSIVE]
    if open_:
        counts = f"{len(open_)} of {_jobs(len(jobs))} prove{'s' * (len(open_) == 1)} nothing"
        return _total(VerdictStatus.INCONCLUSIVE, RunSummary(counts, _named(open_[0])), EXIT_INCONCLUSIVE)
    return _total(
        VerdictStatus.PASS, RunSummary(f"{_passes(words)}{_took_nothing(opinions)}{_skipped(opinions)}"), EXIT_PASS
    )


def _is_broken(opinion: DraftVerdict) -> bool:
    return opinion.result is not None and opinion.result.cause in BROKEN_CASE


def _total(word: VerdictStatus, summary: RunSummary, exit_code: int) -> tuple[Verdict, RunSummary, int]:
    return Verdict(word, f"{word.value.upper()}: {summary.text()}"), summary, exit_code


def _severity(draft: DraftVerdict) -> tuple[int, float]:
    """Of jobs with one word: by outcome, then those that are further off."""
    place = OUTCOMES[draft.outcome].rank if draft.outcome is not None else LEAST
    off = draft.observed if draft.metric == "budget_used" and draft.observed is not None else 0.0
    return place, -math.inf if math.isnan(off) else -off


def _jobs(count: int) -> str:
    return f"{count} job{'' if count == 1 else 's'}"


def _failures(words: Sequence[VerdictStatus], broken_rules: int, missing: Sequence[str]) -> str:
    parts = []
    if failed := words.count(VerdictStatus.FAIL):
        parts.append(f"{failed} of {_jobs(len(words))} failed")
    if passed := words.count(VerdictStatus.XPASS):
        parts.append(f"{_jobs(passed)} passed unexpectedly")
    if broken_rules:
        parts.append(f"{broken_rules} rule{'' if broken_rules == 1 else 's'} for the whole run broken")
    if missing:
        parts.append(_are_missing(missing))
    return ", ".join(parts)


def _passes(words: Sequence[VerdictStatus]) -> str:
    text = f"{words.count(VerdictStatus.PASS)} of {_jobs(len(words))} passed"
    if count := words.count(VerdictStatus.XFAIL):
        text += f", {count} failed as expected"
    return text


def _took_nothing(opinions: Sequence[DraftVerdict]) -> str:
    """`, 9 of them undelegated`: passes by the policy alone, in which nothing was compared."""
    kinds = Counter(
        _kind(opinion)
        for opinion in opinions
        if opinion.word is VerdictStatus.PASS and opinion.outcome not in (Outcome.OK, Outcome.LOWERED)
    )
    return "".join(f", {count} of them {kind}" for kind, count in kinds.most_common())


def _skipped(opinions: Sequence[DraftVerdict]) -> str:
    """`, 3 skipped (2 unsupported, 1 unavailable)`: they prove nothing, and are counted."""
    kinds = _kinds(opinions)
    return f", {kinds.total()} skipped {_counted(kinds)}" if kinds else ""


def _counted(kinds: Counter[str]) -> str:
    return f"({', '.join(f'{count} {kind}' for kind, count in kinds.most_common())})"


def _kinds(opinions: Sequence[DraftVerdict]) -> Counter[str]:
    return Counter(_kind(opinion) for opinion in opinions if opinion.word is VerdictStatus.SKIP)


def _kind(draft: DraftVerdict) -> str:
    if draft.result is not None and is_refusal(draft.result):
        return Outcome.UNSUPPORTED.value
    return outcome_words(draft.outcome) if draft.outcome is not None else "skipped"


def _nothing(jobs: Sequence[Verdict], opinions: Sequence[DraftVerdict]) -> str:
    if not jobs:
        return "NOTHING EXECUTED: no job was planned; name at least one model and one flow"
    skipped = "the only job was" if len(jobs) == 1 else f"all {_jobs(len(jobs))} were"
    return f"NOTHING EXECUTED: {skipped} skipped {_counted(_kinds(opinions))}"


def _named(verdict: Verdict) -> str:
    return f"{verdict.job_key}: {verdict.reason}" if verdict.job_key else verdict.reason
