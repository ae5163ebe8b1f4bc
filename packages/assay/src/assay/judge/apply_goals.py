"""Which job each goal is asked of, and what to say where there is nothing to ask."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.core.policy import Goal, Policy
from assay.core.result import LoadResult, Result
from assay.core.result_parts import LossResult, measurements_of, speeds_of
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge import goal_rules
from assay.judge.changes import baseline_metrics
from assay.judge.decided import Kept, decided, refused, weakened
from assay.judge.draft_verdict import DraftVerdict, Violation, split_key
from assay.judge.expectations import matches
from assay.judge.load_metrics import undecided
from assay.judge.metric_registry import METRICS, metric_spec, recorded_by
from assay.judge.named_metrics import metrics, samples_missing, stated_by
from assay.judge.words.advice import ConfiguredJob, without_numbers
from assay.judge.words.task_metric_hint import task_metric_hint
from assay.judge.words.warnings_text import warnings_of

Figures = Mapping[str, float]
Numbered = Mapping[str, Figures]
"""Job key to metrics."""

WARNINGS_SHOWN = 3
ASKED_ALONE = frozenset({"mutation_score", "load"})
"""Kinds of jobs of commands of their own: goals about what they record are asked by these alone."""
EXEMPT = frozenset({VerdictStatus.SKIP, VerdictStatus.ERROR, VerdictStatus.XFAIL})
"""Jobs with these words owe no metrics."""


def with_goals(
    opinions: Sequence[DraftVerdict],
    policy: Policy,
    baseline: Sequence[Result],
    *,
    alone: bool = False,
    configured_jobs: Mapping[str, ConfiguredJob] = {},
    exempt: Collection[str] = (),
) -> tuple[list[DraftVerdict], list[Verdict]]:
    """The opinions after every goal, and one failing verdict on the run for each goal that matches no job at all. A job
    `alone` does not answer for metrics that others record; `configured_jobs` are the jobs by key, for commands. Those in
    `exempt` are there to be compared with: no goal is about them."""
    if not policy.goals:
        return list(opinions), []  # thousands of metrics that nobody asks for
    now = {
        opinion.job_key: metrics(opinion.result) for opinion in opinions if opinion.result is not None and opinion.ended
    }
    then = {result.job_key: metrics(result) for result in baseline}
    for key, more in _against(opinions, baseline).items():
        now[key] = {**now[key], **more}
    base_name = "the old engine" if exempt else "the baseline run" if baseline else ""
    complaints: dict[str, list[Violation]] = {opinion.job_key: [] for opinion in opinions}
    kept: dict[str, list[Kept]] = {opinion.job_key: [] for opinion in opinions}
    unused = []
    for goal in policy.goals:
        kind = recorded_by(goal.metric)
        if kind in ASKED_ALONE and not any(opinion.kind == kind for opinion in opinions):
            continue
        cells = _cells(goal, [opinion for opinion in opinions if opinion.job_key not in exempt])
        if not cells:
            unused.append(_unused(goal))
        for cell in cells:
            for draft_verdict, complaint in _asked(
                goal, cell, now, then, configured_jobs, alone=alone, base_name=base_name
            ):
                if complaint is None:
                    kept[draft_verdict.job_key].append((goal, now[draft_verdict.job_key][goal.metric]))
                else:
                    complaints[draft_verdict.job_key].append(
                        weakened(draft_verdict, goal, complaint, configured_jobs.get(draft_verdict.job_key))
                    )
    return [_weighed(opinion, complaints[opinion.job_key], kept[opinion.job_key]) for opinion in opinions], unused


def _against(opinions: Sequence[DraftVerdict], baseline: Sequence[Result]) -> dict[str, dict[str, float]]:
    """By job key, the metrics of its cell that only a baseline gives: with the last job of the cell, which knows most of the engine."""
    before: dict[tuple[str, str], list[Result]] = {}
    for result in baseline:
        before.setdefault((result.case, result.flow), []).append(result)
    after: dict[tuple[str, str], list[Result]] = {}
    for opinion in opinions:
        if opinion.cell in before and opinion.result is not None and opinion.ended:
            after.setdefault(opinion.cell, []).append(opinion.result)
    return {results[-1].job_key: baseline_metrics(before[cell], results) for cell, results in after.items()}


def _cells(goal: Goal, opinions: Sequence[DraftVerdict]) -> list[list[DraftVerdict]]:
    """The jobs that the goal's globs match, those of one case and flow together."""
    cells: dict[tuple[str, str], list[DraftVerdict]] = {}
    for opinion in opinions:
        case, flow = opinion.cell
        if matches(case, goal.case) and matches(flow, goal.flow):
            cells.setdefault(opinion.cell, []).append(opinion)
    return list(cells.values())


def _asked(
    goal: Goal,
    cell: Sequence[DraftVerdict],
    now: Numbered,
    then: Numbered,
    jobs: Mapping[str, ConfiguredJob],
    *,
    alone: bool,
    base_name: str,
) -> list[tuple[DraftVerdict, Violation | None]]:
    """Every job of the cell that recorded the metric is judged; where none did, one job answers for that."""
    owing = [
        draft_verdict for draft_verdict in cell if draft_verdict.word not in EXEMPT and draft_verdict.job_key in now
    ]
    # An artifact that cannot be run here owes nothing, but what is known of it is judged.
    built = [
        draft_verdict
        for draft_verdict in cell
        if draft_verdict.word is VerdictStatus.SKIP and draft_verdict.outcome is Outcome.LOWERED
    ]
    recorded = [draft_verdict for draft_verdict in [*owing, *built] if goal.metric in now[draft_verdict.job_key]]
    if recorded:
        silent = _explains_itself(goal, cell)
        return _said_once(
            [
                (result, _kept(goal, result, now, then, base_name))
                for result in sorted(recorded, key=lambda result: result.kind != recorded_by(goal.metric))
                if not silent or _base(goal, result, then) is not None
            ]
        )
    home = [draft_verdict for draft_verdict in cell if draft_verdict.kind == recorded_by(goal.metric)]
    if not home and (alone or recorded_by(goal.metric) in ASKED_ALONE):
        return []  # of a mutant itself: what is asked of all of them is summed up in a job of its own
    if not owing or (home and not any(draft_verdict in owing for draft_verdict in home)):
        return []  # the job that should have recorded it did not get there, and says so itself
    answering = next((draft_verdict for draft_verdict in home if draft_verdict in owing), owing[0])
    names = [name for draft_verdict in owing for name in now[draft_verdict.job_key]]
    return [(answering, _missing(goal, answering, names, jobs.get(answering.job_key), measured=bool(home)))]


def _said_once(judged: Sequence[tuple[DraftVerdict, Violation | None]]) -> list[tuple[DraftVerdict, Violation | None]]:
    """Jobs of a cell have one engine: what they all complain of in the same words, the first says."""
    texts = [complaint.text if complaint is not None else "" for _, complaint in judged]
    return [pair for at, pair in enumerate(judged) if not texts[at] or texts[at] not in texts[:at]]


def _kept(goal: Goal, draft: DraftVerdict, now: Numbered, then: Numbered, base_name: str) -> Violation | None:
    observed = now[draft.job_key][goal.metric]
    stated = stated_by(draft.result) if draft.result is not None else {}
    if not goal_rules.needs_baseline(goal):
        complaint = undecided(goal, draft.result, observed, lambda value: goal_rules.absolute(goal, value, stated))
    else:
        flow = goal.against.removeprefix("flow:")
        same_run = flow != goal.against
        key = f"{draft.cell[0]}|{flow}|{draft.kind}"
        whose = f"flow '{flow}'" if same_run else base_name
        base = now.get(key, {}).get(goal.metric) if same_run else _base(goal, draft, then)
        if base is None:
            return _no_baseline(goal, whose, observed, flow if same_run else "")
        complaint = undecided(
            goal, draft.result, observed, lambda value: goal_rules.relative(goal, value, base, whose, stated)
        )
    return _with_warnings(_with_doubt(complaint, draft), draft)


def _explains_itself(goal: Goal, cell: Sequence[DraftVerdict]) -> bool:
    """By the comparison of the cell, which found no engine to be compared with: a metric that has none either would repeat it."""
    speeds = [
        speed for draft_verdict in cell if draft_verdict.result is not None for speed in speeds_of(draft_verdict.result)
    ]
    return (
        goal_rules.needs_baseline(goal)
        and goal.against == "run"
        and any(speed_comparison.trouble for speed_comparison in speeds)
    )


def _base(goal: Goal, draft: DraftVerdict, then: Numbered) -> float | None:
    """The metric of this job in the baseline, or of another job of its cell."""
    named = [then.get(draft.job_key, {}), *_of_cell(then, draft)]
    return next((figures[goal.metric] for figures in named if goal.metric in figures), None)


def _of_cell(numbered: Numbered, draft: DraftVerdict) -> list[Figures]:
    """Other jobs of the same case and flow: the artifact is the same for all of them."""
    return [named for key, named in numbered.items() if split_key(key)[:2] == draft.cell]


def _with_doubt(complaint: Violation | None, draft: DraftVerdict) -> Violation | None:
    """A note on a latency whose warm-up never settled."""
    unsettled = draft.result is not None and any(not measured.stable for measured in measurements_of(draft.result))
    if complaint is None or not unsettled or not complaint.metric.startswith(("latency.", "throughput.")):
        return complaint
    return replace(complaint, text=f"{complaint.text} (the warm-up had not settled: raise warmup-s in [measure])")


def _with_warnings(complaint: Violation | None, draft: DraftVerdict) -> Violation | None:
    """What was warned of, behind a violated limit on how often."""
    if complaint is None or draft.result is None or complaint.metric.partition(".")[0] != "warnings":
        return complaint
    text = "; ".join(warnings_of(draft.result)[:WARNINGS_SHOWN])
    return replace(complaint, text=f"{complaint.text}: {text}") if text else complaint


def _no_baseline(goal: Goal, whose: str, observed: float, flow: str) -> Violation:
    if not whose:
        todo = "add --compare-run RUN or --baseline, or judge by max or min"
        text = f"{goal.metric} cannot be compared: no run was given as the baseline; {todo}"
        return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric, observed)
    run = "name a run that has it as the baseline (--compare-run RUN)"
    todo = f"add '{flow}' to the flows of this case" if flow else run
    text = f"{goal.metric} cannot be compared, {whose} has no such metric for this job: {todo}, or judge by max or min"
    return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric, observed)


def _missing(
    goal: Goal, draft: DraftVerdict, names: Sequence[str], job: ConfiguredJob | None, *, measured: bool
) -> Violation:
    assert draft.result is not None
    short = samples_missing(draft.result, goal.metric)
    if short is not None:
        text = f"{goal.metric} needs {short[0]} samples and {short[1]} were taken: raise seconds in [measure]"
        return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric)
    if isinstance(draft.result, LoadResult):
        text = f"{goal.metric} is not known of this load: measure longer, or at that rate"
        return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric)
    if without_numbers(draft.result) and _is_of_error(goal.metric, draft.result):
        text = f"{goal.metric} has no value here, for the reference has no finite number"
        return Violation(VerdictStatus.INCONCLUSIVE, text, goal.metric)
    near = difflib.get_close_matches(goal.metric, dict.fromkeys(names), n=3, cutoff=0.5)
    hint = f"the nearest are {', '.join(near)}" if near else "no recorded metric has a name like it"
    if goal.metric in ("fusions.lost", "warnings.new"):
        hint = "it is known beside a baseline alone, of engines that say what they executed: give --baseline or --compare-run RUN"
    if recorded_by(goal.metric) == "measure" and not measured:
        hint = "nothing was measured: set enabled = true in [measure]"
    if isinstance(draft.result, LossResult) and goal.metric.startswith("task."):
        hint = task_metric_hint(goal.metric.removeprefix("task."), draft.result, job) or hint
    return Violation(VerdictStatus.FAIL, f"metric not recorded: {goal.metric}; {hint}", goal.metric)


def _is_of_error(metric: str, result: Result) -> bool:
    """Whether it compares answers with those of the reference: a listed metric, or one that a plug-in states."""
    return metric_spec(metric) in METRICS or metric.rpartition(".")[2] in stated_by(result)


def _weighed(draft: DraftVerdict, complaints: Sequence[Violation], kept: Sequence[Kept]) -> DraftVerdict:
    if not complaints:
        if (passed := decided(draft, kept)) is not None:
            return passed
        count = len(kept)
        met = f"; {count} goal{'s' if count > 1 else ''} met" if kept and draft.word is VerdictStatus.PASS else ""
        return replace(draft, reason=draft.reason + met)
    failures_first = sorted(complaints, key=lambda complaint: complaint.word is not VerdictStatus.FAIL)
    failed_before = draft.word in (VerdictStatus.FAIL, VerdictStatus.XPASS, VerdictStatus.INCONCLUSIVE)
    reason = "; ".join([*([draft.reason] if failed_before else []), *(complaint.text for complaint in failures_first)])
    first = failures_first[0]
    if beyond := refused(draft, failures_first):
        reason = beyond
    if draft.word in (VerdictStatus.FAIL, VerdictStatus.XPASS) or (
        draft.word is VerdictStatus.INCONCLUSIVE and first.word is not VerdictStatus.FAIL
    ):
        return replace(draft, reason=reason)
    return replace(
        draft, word=first.word, reason=reason, metric=first.metric, observed=first.observed, allowed=first.allowed
    )


def _unused(goal: Goal) -> Verdict:
    where = f"case '{goal.case}' and flow '{goal.flow}'"
    demand = f"{goal.option} over {goal.metric}" if goal.option else f"the goal over {goal.metric} for {where}"
    text = f"{demand} matches no job: {'remove it' if goal.option else 'correct its globs or remove it'}"
    return Verdict(VerdictStatus.FAIL, text, metric=goal.metric)
