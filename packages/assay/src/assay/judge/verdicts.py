"""Results and a policy in, one verdict for each job and one for the run out."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from assay.core.job_base import Job
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.core.result import PerNodeResult, Result, VerifyResult
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.judge.apply_goals import with_goals
from assay.judge.coverage import absent_shards, too_few, total
from assay.judge.doubted_inputs import with_doubtful_inputs
from assay.judge.draft_verdict import DraftVerdict
from assay.judge.expectations import with_expectations
from assay.judge.goal_rules import needs_baseline
from assay.judge.invalid import with_invalid
from assay.judge.outcome_rule import judge_outcome
from assay.judge.words.advice import ConfiguredJob


def judge(
    results: Sequence[Result],
    policy: Policy,
    *,
    planned: Sequence[str],
    baseline: Sequence[Result] = (),
    today: datetime.date,
    narrowed: bool = False,
    alone: bool = False,
    jobs_by_key: Mapping[str, Job] = {},
    config: str = "",
    exempt: Collection[str] = (),
    missing: Sequence[str] = (),
) -> RunVerdict:
    """The same results, policy and day always give the same judgement, in whatever order the results came.

    `planned` are job keys (`case|flow|kind`); one verdict for each in that order, then for results nobody planned, then
    verdicts on the run as a whole (`job_key` empty). `baseline` are the results that goals against "run" compare with.
    `narrowed` says that a person asked for a part of the run only: counts, and rules that match no job, are not held
    against it; `alone` that the part is one job, which owes no metrics that the run's other jobs record. `jobs_by_key` are the
    jobs by key, for commands that can be copied; `exempt` are keys of jobs that are there to be compared with;
    `missing` shards of the run that are not: then counts are not judged, and the run is no pass.
    Raises BadPolicy for a goal without exactly one limit and
    an expiry that is no date.
    """
    for goal in policy.goals:
        needs_baseline(goal)
    recorded: dict[str, Result] = {}
    for result in results:
        recorded.setdefault(result.job_key, result)
    keys = dict.fromkeys([*planned, *sorted(recorded.keys() - set(planned))])
    known = {key: ConfiguredJob(job, config) for key, job in jobs_by_key.items()}
    opinions = [judge_outcome(key, recorded.get(key), policy, known.get(key)) for key in keys]
    opinions = with_combinations(with_doubtful_inputs(with_invalid(opinions, jobs_by_key), known, policy))
    opinions, unmet = with_expectations(opinions, policy, today)
    opinions, unasked = with_goals(opinions, policy, baseline, alone=alone, configured_jobs=known, exempt=exempt)
    rules = [] if narrowed or missing else [*unmet, *unasked, *too_few(opinions, policy)]
    jobs = [opinion.verdict() for opinion in opinions]
    run, summary, exit_code = total(opinions, rules, missing)
    return RunVerdict((*jobs, *rules, *absent_shards(missing)), run, exit_code, summary=summary)


def first_verdict(result: Result, policy: Policy, today: datetime.date) -> str:
    """What is known as soon as one job has ended: whether the engine is right. Goals, which may compare it with others, are
    judged when all are there. "" for jobs that do not ask it."""
    if not isinstance(result, VerifyResult | PerNodeResult):
        return ""
    own = msgspec.structs.replace(policy, goals=(), minimum_cases={})
    run_verdict = judge([result], own, planned=[result.job_key], today=today, narrowed=True, alone=True)
    return run_verdict.verdicts[0].word.value


COMBINATION = (
    "each node that was judged is right on its own inputs: a combination of nodes is at fault, such as a fusion, which ends where "
    "a node is observed"
)


def with_combinations(opinions: Sequence[DraftVerdict]) -> list[DraftVerdict]:
    """The failing verify opinions of cells whose per-node job blames no node, with that sentence behind their reason."""
    innocent = {
        opinion.cell
        for opinion in opinions
        if opinion.kind == "per_node" and opinion.outcome is Outcome.OK and opinion.result is not None
    }
    return [
        replace(opinion, reason=f"{opinion.reason}; {COMBINATION}")
        if opinion.cell in innocent and _is_wrong(opinion)
        else opinion
        for opinion in opinions
    ]


def _is_wrong(opinion: DraftVerdict) -> bool:
    return opinion.kind == "verify" and opinion.word is VerdictStatus.FAIL and opinion.outcome is Outcome.MISMATCH
