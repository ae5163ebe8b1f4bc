"""What a run is compared with, and what changed since: the old engines of the run itself, its baseline, or another run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from assay.core.changes import CellChange, MetricDelta, RunChanges
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.judge.changes import cell_changes, is_of_a_batch, smallest_batch
from assay.judge.named_metrics import metrics
from assay.judge.verdicts import judge
from assay.pipeline.adapters import Services
from assay.pipeline.baselines.find_baseline import approved_results

PAST_RUNS = 12
"""Earlier runs whose values are shown beside a change."""
PAST_LOOKED_AT = 60
"""Runs with one of the cells that are read at most, where not each of them has all cells."""
COMMITS_SHOWN = 50


def compared_results(run: Run, results: Sequence[Result], services: Services) -> list[Result]:
    """What goals compare with: results of the old engine under the names of the new one, of the baseline run, or of the approved
    engines."""
    if run.compared:
        by_key = {result.job_key: result for result in results}
        jobs = {job.key: job for job in run.jobs}
        return [
            replace(by_key[old], job_key=new, case=jobs[new].case.name, flow=jobs[new].subject)
            for new, old in run.compared.items()
            if old in by_key and new in jobs
        ]
    return list(services.store.results(run.baseline)) if run.baseline else approved_results(run)


def with_changes(
    judgement: RunVerdict, run: Run, results: Sequence[Result], old: Sequence[Result], services: Services
) -> RunVerdict:
    """The judgement with what changed since `old`, where there is something to compare with."""
    if not old:
        return judgement
    new = [result for result in results if result.job_key not in run.compared.values()]
    if run.baseline:
        return replace(
            judgement, changes=changes_between(services.store.run(run.baseline), run, new, judgement, services)
        )
    cells = [change for change in cell_changes(old, new, verdicts=judgement.verdicts) if change.only != "new"]
    names = dict.fromkeys(rival.name for rival in run.baselines if not rival.trouble)
    name = ", ".join(names) or "the old engine"
    return replace(judgement, changes=RunChanges(name, tuple(cells)))


def changes_between(
    old: Run, new: Run, results: Sequence[Result], judgement: RunVerdict, services: Services, *, past: bool = True
) -> RunChanges:
    """Of two runs of the history, with commits and versions between, and, with `past`, the values of the runs before them."""
    before = list(services.store.results(old.id))
    cells = cell_changes(before, results, old_words=_words(old, before), verdicts=judgement.verdicts)
    shown = (
        with_past(cells, {result.job_key for result in (*before, *results)}, new, services) if past else tuple(cells)
    )
    return replace(facts_between(old, new), cells=shown)


def facts_between(old: Run, new: Run) -> RunChanges:
    """Commits and versions between two runs, without their cells."""
    return RunChanges(
        f"run {old.id}",
        (),
        old.started_at,
        new.started_at,
        old.commit,
        new.commit,
        commits_between(old.commit, new.commit),
        tuple(
            (name, old.versions.get(name, ""), new.versions.get(name, ""))
            for name in sorted(old.versions.keys() | new.versions.keys())
            if old.versions.get(name) != new.versions.get(name)
        ),
    )


def _words(run: Run, results: Sequence[Result]) -> dict[str, str]:
    """Verdicts of that run by its own policy, where that can be judged alone."""
    policy = replace(run.policy, goals=())
    run_verdict = judge(
        results, policy, planned=[job.key for job in run.jobs], today=datetime.now(UTC).date(), narrowed=True
    )
    return {verdict.job_key: verdict.word.value for verdict in run_verdict.verdicts}


def with_past(
    cells: Sequence[CellChange], jobs: Collection[str], new: Run, services: Services
) -> tuple[CellChange, ...]:
    """With the values of the runs before `new` that have these cells, whatever else was run between: from results with these job keys.
    Latency and throughput only of runs that timed the batch of this one."""
    past: dict[tuple[str, str, str], list[float]] = {}
    batch = {(cell.case, cell.flow): cell.batches[1] for cell in cells}
    runs_of = dict.fromkeys(batch, 0)
    identity = new.id
    for _ in range(PAST_LOOKED_AT):
        short = [cell for cell, count in runs_of.items() if count < PAST_RUNS]
        identity = services.store.run_before(identity, short) if short else ""
        if not identity:
            break
        of_run = _values_of_run(services.store.results(identity, jobs), batch)
        for cell in {(case, flow) for case, flow, _ in of_run}:
            runs_of[cell] += 1
        for key, value in of_run.items():
            if runs_of[key[:2]] <= PAST_RUNS:
                past.setdefault(key, []).insert(0, value)
    return tuple(replace(cell, deltas=tuple(_delta(cell, delta, past) for delta in cell.deltas)) for cell in cells)


def _values_of_run(
    results: Sequence[Result], batch: Mapping[tuple[str, str], int]
) -> dict[tuple[str, str, str], float]:
    """By case, flow and metric; what several jobs record is that of the first."""
    values: dict[tuple[str, str, str], float] = {}
    for result in results:
        cell = (result.case, result.flow)
        if cell not in batch:
            continue
        timed = smallest_batch([result])
        for name, value in metrics(result).items():
            if timed == batch[cell] or not is_of_a_batch(name):
                values.setdefault((*cell, name), value)
    return values


def _delta(
    cell: CellChange, metric_delta: MetricDelta, past: Mapping[tuple[str, str, str], list[float]]
) -> MetricDelta:
    return replace(metric_delta, past=tuple(past.get((cell.case, cell.flow, metric_delta.metric), ())))


def commits_between(old: str, new: str, folder: Path | None = None) -> tuple[str, ...]:
    """`abc123456 subject`, newest first, at most `COMMITS_SHOWN`; () where the checkout does not know them."""
    first, last = old.removesuffix("-dirty"), new.removesuffix("-dirty")
    if not first or not last or first == last or first.startswith("-") or last.startswith("-"):
        return ()
    here = folder or Path.cwd()
    if "GIT_DIR" not in os.environ and not any((path / ".git").exists() for path in (here, *here.parents)):
        return ()  # a dashboard is seldom in a checkout, and a process that says so takes as long as a page
    try:
        answer = subprocess.run(
            ["git", "log", "--format=%h %s", f"--max-count={COMMITS_SHOWN}", f"{first}..{last}", "--"],
            cwd=here,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    return tuple(answer.stdout.splitlines()) if answer.returncode == 0 else ()
