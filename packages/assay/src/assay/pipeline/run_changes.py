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
from assay.judge.metrics import metrics
from assay.judge.verdicts import judge
from assay.pipeline.find_baseline import approved_results
from assay.pipeline.services import Services

PAST_RUNS = 12
"""Earlier runs whose values are shown beside a change."""
PAST_LOOKED_AT = 60
"""Runs back in the history among which they are searched."""
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
    """With the values of earlier runs, from results with these job keys. Latency and throughput only of runs that timed the batch of
    this one."""
    past: dict[tuple[str, str, str], list[float]] = {}
    batch = {(cell.case, cell.flow): cell.batches[1] for cell in cells}
    looked_at = [run.id for run in services.store.runs(PAST_LOOKED_AT) if run.id < new.id][:PAST_RUNS]
    for identity in reversed(looked_at):
        seen: dict[tuple[str, str, str], float] = {}
        for result in services.store.results(identity, jobs):
            timed = smallest_batch([result])
            other = timed != batch.get((result.case, result.flow), timed)
            for name, value in metrics(result).items():
                if not (other and is_of_a_batch(name)):
                    seen.setdefault((result.case, result.flow, name), value)
        for key, value in seen.items():
            past.setdefault(key, []).append(value)
    return tuple(replace(cell, deltas=tuple(_delta(cell, delta, past) for delta in cell.deltas)) for cell in cells)


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
