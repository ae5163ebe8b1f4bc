"""From the verdicts of a run to red jobs, and from red jobs to causes: jobs that fail in the same way and share a model or a backend."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from assay.core.alert import AlertKind, RedJob
from assay.core.digest import value_digest
from assay.core.job import AnyJob
from assay.core.job_base import FlowJob
from assay.core.note import Note, NoteCode
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.result_parts import ComparedResult, LossResult, speeds_of
from assay.core.verdict import Verdict, VerdictStatus
from assay.judge.job_outcome import findings_of
from assay.judge.outcome_table import outcome_words
from assay.judge.witnesses import doubt_of

BLOCKING = (VerdictStatus.FAIL, VerdictStatus.XPASS, VerdictStatus.ERROR)
_WORST_FIRST = (*BLOCKING, VerdictStatus.INCONCLUSIVE, VerdictStatus.SKIP, VerdictStatus.XFAIL, VerdictStatus.PASS)
MEASURED_OUTCOMES = (Outcome.OK, Outcome.LOWERED)


def red_jobs(
    verdicts: Sequence[Verdict], results: Sequence[Result], jobs: Sequence[AnyJob], command: str
) -> tuple[list[RedJob], set[str]]:
    """Those that are not well, worst verdict of each, and the keys of those that pass. A verdict on the run as a whole is that of the job
    `|COMMAND|run`. A job that is skipped is red of the kind `change`: whether it passed before is for the caller to know."""
    by_key = {result.job_key: result for result in results}
    jobs_by_key = {asked_job.key: asked_job for asked_job in jobs}
    worst: dict[str, Verdict] = {}
    for job_verdict in verdicts:
        key = job_verdict.job_key or run_key(command)
        if key not in worst or _WORST_FIRST.index(job_verdict.word) < _WORST_FIRST.index(worst[key].word):
            worst[key] = job_verdict
    worst.setdefault(run_key(command), Verdict(VerdictStatus.PASS, ""))
    red: list[RedJob] = []
    passed: set[str] = set()
    for key, verdict in worst.items():
        if verdict.word in (VerdictStatus.PASS, VerdictStatus.XFAIL):
            passed.add(key)
            continue
        kind = (
            AlertKind.BLOCK
            if verdict.word in BLOCKING
            else AlertKind.INCONCLUSIVE
            if verdict.word is VerdictStatus.INCONCLUSIVE
            else AlertKind.CHANGE
        )
        job = jobs_by_key.get(key)
        backend = job.flow.backend if isinstance(job, FlowJob) else ""
        red.append(_red(key, kind, verdict, by_key.get(key), backend))
    return red, passed


SHORT = 60
"""Characters of a reason that stand in the subject of a message."""


def run_key(command: str) -> str:
    """Of what is wrong with a run as a whole: later runs of the same command answer it."""
    return f"|{value_digest(command)[:12]}|run"


def _red(key: str, kind: AlertKind, verdict: Verdict, result: Result | None, backend: str) -> RedJob:
    by_goal = verdict.metric and (result is None or verdict.by_stated_limit or result.outcome in MEASURED_OUTCOMES)
    if by_goal:
        symptom: tuple[str, ...] = ("goal", verdict.metric)
        short = f"{verdict.metric} is beyond its limit"
    elif result is None:
        symptom = ("verdict", verdict.word.value)
        short = "a rule for the whole run is broken" if not verdict.job_key else "no result"
    elif result.outcome is Outcome.OK:  # the job itself ended well: what it is not enough for says the verdict
        symptom = ("verdict", verdict.word.value, result.kind.value, doubt_of(result).value, *_codes_of(result))
        short = textwrap.shorten(verdict.reason, SHORT, placeholder=" ...")
    else:
        # Of a process its signal says how it failed.
        how = _codes_of(result) or ([] if result.signal else [result.stage.value, *_note_codes(result.ended)])
        symptom = ("outcome", result.outcome.value, result.cause.value, result.signal, *how)
        short = outcome_words(result.outcome)
    if verdict.word is VerdictStatus.XPASS:
        symptom, short = (*symptom, "xpass"), "passes, and was expected to fail"
    log = result.log_file if result is not None else ""
    return RedJob(key, kind, value_digest((kind.value, *symptom))[:16], short, verdict.reason, backend, log)


def _codes_of(result: Result) -> list[str]:
    """What a comparison found, or why it proves nothing. No words: those name outputs, numbers and whoever was asked, which differ from
    model to model and from run to run where the cause is one."""
    kinds = {finding.kind for finding in findings_of(result)} if isinstance(result, ComparedResult) else set()
    open_ = (
        [result.unproven]
        if isinstance(result, LossResult)
        else [speed_comparison.trouble for speed_comparison in speeds_of(result)]
    )
    return sorted(kinds | {code for note in open_ for code in _note_codes(note)})


def _note_codes(note: Note | None) -> list[str]:
    """Of the note and those that led to it; of an exception its type, too."""
    if note is None:
        return []
    raised = [str(note.facts.get("exception", ""))] if note.code == NoteCode.RAISED else []
    led = [code for fact in note.facts.values() if isinstance(fact, Note) for code in _note_codes(fact)]
    return [note.code, *raised, *led]


def causes(red: Sequence[RedJob]) -> list[list[RedJob]]:
    """Jobs with one symptom belong together where they share a model or a backend, directly or over others."""
    groups: list[list[RedJob]] = []
    places: list[set[tuple[str, str, str]]] = []
    for red_job in red:
        own = places_of(red_job)
        near = [number for number, known in enumerate(places) if known & own]
        groups.append([*(other for number in near for other in groups[number]), red_job])
        places.append(own.union(*(places[number] for number in near)))
        for number in reversed(near):
            del groups[number], places[number]
    return groups


def places_of(red_job: RedJob) -> set[tuple[str, str, str]]:
    """What a job with the same symptom shares with it, if both have one cause."""
    places = {(red_job.symptom, "model", red_job.case)}
    return places | {(red_job.symptom, "backend", red_job.backend)} if red_job.backend else places


def headline(red: Sequence[RedJob], commands: Mapping[str, str] = {}) -> str:
    """`digits on openvino-f32 and 2 more: wrong answers`."""
    cells = list(dict.fromkeys((red_job.case, red_job.flow) for red_job in red))
    case, flow = cells[0]
    first = f"{case} on {flow}" if case else commands.get(red[0].key, "the run")
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    return f"{first}{more}: {red[0].short}"
