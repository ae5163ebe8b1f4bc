"""What is known of a cause beside its verdict: since when, what changed between, who last changed the model, and what to do."""

from __future__ import annotations

import itertools
import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.alert import Alert, AlertFacts, AlertKind, RedJob
from assay.core.job import AnyJob
from assay.core.job_base import FlowJob
from assay.core.outcome import Outcome
from assay.core.run import Run
from assay.errors import RunNotFound
from assay.options.groups import DEFAULT_HISTORY, history_words
from assay.options.repro import repro_line
from assay.pipeline.past_runs.run_changes import commits_between
from assay.ports import Store

COMMITS = 4
LONGEST = 400
FINE = (Outcome.OK, Outcome.LOWERED)


class LastChange(msgspec.Struct, frozen=True):
    """Of a file: who, when (a date), the commit and its subject; `open`: the file differs from it."""

    who: str
    when: str
    commit: str
    subject: str
    open: bool = False

    def text(self) -> str:
        text = f"{self.who}, {self.when}, commit {self.commit}: {self.subject}"
        return f"{text} (and since then without a commit)" if self.open else text


def facts_of_news(
    alert: Alert, red: Sequence[RedJob], before: str, run: Run, store: Store, history: str = DEFAULT_HISTORY
) -> AlertFacts:
    """Of news in `run`, which `history` has (the commands say where that is). Without `red` (a recovery): of the run that made it well."""
    jobs = {job.key: job for job in run.jobs}
    names = tuple(dict.fromkeys(_name(key) for key in (alert.jobs if red else alert.told)))
    first = red[0] if red else None
    job = jobs.get(first.key if first else next((key for key in alert.told if key in jobs), ""))
    lines: list[tuple[str, str]] = []
    if first:
        reason = first.reason if len(first.reason) <= LONGEST else f"{first.reason[:LONGEST]}..."
        trend = first.kind is AlertKind.TREND  # whose reason begins with the metric
        lines.append(("What", reason if trend else f"{first.key.split('|')[2]}: {reason}"))
        lines += _since(alert, first.key, run, store)
        if before:
            lines.append(("Before", before))
    else:
        lines.append(("Was", f"open from {_time(alert.first_at)} (run {alert.first_run}) to {_time(alert.closed_at)}"))
        # Inside of its mute it was another run that passed.
        in_mute = alert.is_muted(alert.closed_at)
        lines.append(("Now", "it was well again while it was muted" if in_mute else f"run {run.id} passes"))
        lines += _changed(alert.first_run, run, job, store)
    if first and first.log:
        lines.append(("Log", first.log))
    model = _model_file(job)
    if changed := last_change(model) if model else None:
        lines.append(("Model", f"last changed by {changed.text()}"))
    return AlertFacts(names, tuple(lines), _commands(alert, first, job, run, history))


def last_change(path: Path) -> LastChange | None:
    """None outside of a checkout, and of a file that git does not know."""
    line = _git(path, "log", "-1", "--date=short", "--format=%an <%ae>%x00%ad%x00%h%x00%s", "--", path.name)
    if line.count("\0") != 3:
        return None
    who, when, commit, subject = line.split("\0")
    return LastChange(who, when, commit, subject, bool(_git(path, "status", "--porcelain", "--", path.name)))


def _git(path: Path, *words: str) -> str:
    try:
        answer = subprocess.run(
            ["git", *words], cwd=path.parent, capture_output=True, text=True, timeout=10, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def _since(alert: Alert, key: str, run: Run, store: Store) -> list[tuple[str, str]]:
    """Back to the first of the runs in a row that ended in this way, told or not."""
    case, flow, _ = key.rsplit("|", 2)
    past = [
        past_result
        for past_result in store.history(case, flow)
        if past_result.result.job_key == key and past_result.run_id <= run.id
    ]
    if not past:
        return [("Since", f"run {alert.first_run}, {_time(alert.first_at)}")]
    outcome = past[0].result.outcome
    same = list(itertools.takewhile(lambda past_result: past_result.result.outcome is outcome, past))
    by_limit = outcome in FINE  # whether a limit held in an earlier run is for that run's report to say
    first = store.run(run.id if by_limit else same[-1].run_id)
    text = f"run {first.id}, {_time(first.started_at)}"
    earlier = past[1:] if by_limit else past[len(same) :]
    if not earlier:
        return [("Since", f"{text}; no earlier run in this history has this job otherwise")]
    old = store.run(earlier[0].run_id)
    how = "is the run before" if by_limit else "did not show it"
    job = next((candidate for candidate in run.jobs if candidate.key == key), None)
    return [("Since", f"{text}; run {old.id} of {_time(old.started_at)} {how}"), *_changed(old.id, first, job, store)]


def _changed(old_id: str, run: Run, job: AnyJob | None, store: Store) -> list[tuple[str, str]]:
    """Between that run and this one: versions, commits, the model."""
    try:
        old = store.run(old_id)
    except RunNotFound:
        return []
    lines = [
        f"{name} {old.versions.get(name, 'absent')} -> {run.versions.get(name, 'absent')}"
        for name in sorted(old.versions.keys() | run.versions.keys())
        if old.versions.get(name) != run.versions.get(name)
    ]
    job = next((candidate for candidate in run.jobs if job is not None and candidate.key == job.key), job)
    was = next((old_job for old_job in old.jobs if job is not None and old_job.key == job.key), None)
    if job is not None and was is not None:
        same = was.case.model.digest == job.case.model.digest
        lines.append("the model file is the same" if same else "the model file is another")
        if isinstance(was, FlowJob) and isinstance(job, FlowJob) and was.flow != job.flow:
            lines.append("the flow has other options")
    commits = commits_between(old.commit, run.commit)
    if commits:
        more = f" and {len(commits) - COMMITS} more" if len(commits) > COMMITS else ""
        lines.append(f"commits {', '.join(commits[:COMMITS])}{more}")
    if old.machine.kind != run.machine.kind:
        lines.append(f"the machine ({old.machine.kind} -> {run.machine.kind})")
    return [("Changed", "; ".join(lines))] if lines else []


def mute_line(alert: Alert, history: str) -> str:
    """The command that keeps an alert of `history` quiet for a week."""
    return _line("alert", "mute", alert.id, "--for", "7d", "--reason", "WHY", history=history)


def _line(*words: str, history: str) -> str:
    return shlex.join(["assay", *words, *history_words(history)])


def _commands(
    alert: Alert, first: RedJob | None, job: AnyJob | None, run: Run, history: str
) -> tuple[tuple[str, str], ...]:
    see = ("See it", _line("report", run.id, history=history))
    if first is None:
        return (see,)
    mute = ("Not now", mute_line(alert, history))
    if first.kind is AlertKind.TREND:
        case, flow, metric = first.key.split("|")
        words = ("trend", case, "--flow", flow, "--metric", metric.removeprefix("trend:"))
        return (("See it", _line(*words, history=history)), mute)
    repeat = ("Repeat it", repro_line(run, job) if job else run.command)
    wrong = job is not None and first.kind is AlertKind.BLOCK and first.key.endswith("|verify")
    cause = (("Find the cause", _line("triage", run.id, history=history)),) if wrong else ()
    return (repeat, *cause, see, mute)


def _model_file(job: AnyJob | None) -> Path | None:
    if job is None:
        return None
    path = Path(job.case.model.source)
    return path if path.is_file() else None


def _name(key: str) -> str:
    case, flow, kind = (*key.split("|"), "", "")[:3]
    return f"{case} on {flow} ({kind})" if case else "the run as a whole"


def _time(text: str) -> str:
    """`2026-11-26 08:12 UTC`, of a time in UTC."""
    return f"{text[:16].replace('T', ' ')} UTC"
