"""What every report shows: a row per case and flow, with the worst verdict and the metrics people look at first."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from assay.core.job_base import Job
from assay.core.result import MeasureResult, Result
from assay.core.result_parts import (
    ComparedResult,
    comparisons_of,
    facts_of,
    measurements_of,
)
from assay.core.run import Run
from assay.core.verdict import RunVerdict, Verdict, VerdictStatus
from assay.judge.speed import slowdowns
from assay.judge.witnesses import described
from assay.judge.words.warnings_text import warnings_of
from assay.stats.percentiles import percentile

SEVERITY = (
    VerdictStatus.ERROR.value,
    VerdictStatus.FAIL.value,
    VerdictStatus.XPASS.value,
    VerdictStatus.INCONCLUSIVE.value,
    "",
    VerdictStatus.SKIP.value,
    VerdictStatus.XFAIL.value,
    VerdictStatus.PASS.value,
)
"""Gravest first; "" is a planned job that nothing was said about."""

EXIT_MEANING = {
    0: "pass: every requirement is met",
    1: "fail: at least one demand of the policy is not met",
    2: "wrong usage or bad input",
    3: "inconclusive: the evidence is not enough for an answer",
    4: "error: the harness or the machine failed, not the model",
    5: "nothing was executed",
}

LONGEST_HEADLINE = 300
"""Characters of the sentence beside the verdict of a run."""


class Figures(msgspec.Struct, frozen=True):
    """None (0 for bytes) where nothing was observed. Latency is that of the smallest batch size, in seconds."""

    budget_used: float | None = None
    max_abs: float | None = None
    median_s: float | None = None
    p90_s: float | None = None
    batch: int = 0
    memory_bytes: int = 0
    artifact_bytes: int = 0
    slowdown_percent: float | None = None
    """Of a comparison, at its slowest batch size."""
    is_bound: bool = False
    """Of a coarse tolerance: what is used of the derived one is less than `budget_used`."""


class Entry(msgspec.Struct, frozen=True):
    """One job: what was asked, what was observed, what the judge said. A job or a result is always there."""

    key: str
    kind: str
    job: Job | None
    result: Result | None
    verdicts: tuple[Verdict, ...]

    @property
    def asked(self) -> Job | Result:
        """What names this entry: the job, or the result where no job was planned for it."""
        if self.job is not None:
            return self.job
        assert self.result is not None
        return self.result

    @property
    def names(self) -> tuple[str, str]:
        """(case, flow)."""
        asked = self.asked
        return (asked.case.name, asked.subject) if isinstance(asked, Job) else (asked.case, asked.flow)

    @property
    def word(self) -> str:
        """The gravest verdict, "" without any."""
        return worst([verdict.word.value for verdict in self.verdicts])

    @property
    def reason(self) -> str:
        """Why, in a sentence: the reasons of the gravest verdicts, or what the job itself said."""
        reasons = [verdict.reason for verdict in self.verdicts if verdict.word.value == self.word]
        if reasons:
            return "; ".join(reasons)
        if self.result is None:
            return "planned, but no result was recorded"
        return self.result.detail or "no verdict was given"


class Row(msgspec.Struct, frozen=True):
    """One cell of the matrix case × flow, its jobs together."""

    case: str
    flow: str
    entries: tuple[Entry, ...]
    figures: Figures

    @property
    def reference(self) -> str:
        """Whose answers its outputs were compared with, in a few words; "" where nothing was compared."""
        results = [entry.result for entry in self.entries]
        references = (described(result.reference) for result in results if isinstance(result, ComparedResult))
        return ", ".join(dict.fromkeys(filter(None, references)))

    @property
    def word(self) -> str:
        """The gravest of its entries."""
        return worst([entry.word for entry in self.entries])


def group_identical(row: Row) -> list[tuple[Entry, ...]]:
    """The entries of a row that say the same, together: what is wrong with an artifact every job of it finds, and once is
    enough to read."""
    grouped: dict[tuple[object, ...], list[Entry]] = {}
    for entry in row.entries:
        seen = (entry.result.detail, entry.result.node, warnings_of(entry.result)) if entry.result is not None else ()
        grouped.setdefault((entry.word, entry.reason, *seen), []).append(entry)
    return [tuple(entries_alike) for entries_alike in grouped.values()]


def worst(words: Sequence[str]) -> str:
    """The first of `SEVERITY` that occurs; "" for none at all."""
    return words[0] if len(words) == 1 else min(words, key=SEVERITY.index, default="")


def entries(run: Run, results: Sequence[Result], judgement: RunVerdict) -> list[Entry]:
    """One for each job planned, in order, then one for each result that no job asked for."""
    observed = {result.job_key: result for result in results}
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in judgement.verdicts:
        verdicts.setdefault(verdict.job_key, []).append(verdict)
    jobs = {job.key: job for job in run.jobs}
    listed = []
    for key in [*jobs, *(key for key in observed if key not in jobs)]:
        job, result = jobs.get(key), observed.get(key)
        kind = job.kind if job else result.kind if result else ""
        listed.append(Entry(key, kind, job, result, tuple(verdicts.get(key, ()))))
    return listed


def rows(run: Run, results: Sequence[Result], judgement: RunVerdict) -> list[Row]:
    """One row per case and flow, in the order planned."""
    grouped: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries(run, results, judgement):
        grouped.setdefault(entry.names, []).append(entry)
    return [row_of(entries_of_row) for entries_of_row in grouped.values()]


def row_of(alike: Sequence[Entry]) -> Row:
    """Entries of one case on one flow."""
    return Row(*alike[0].names, tuple(alike), figures(alike))


def run_verdicts(run: Run, results: Sequence[Result], judgement: RunVerdict) -> list[Verdict]:
    """Verdicts that belong to no job (a missing flow, too few cases), those that pass left out."""
    known = {job.key for job in run.jobs} | {result.job_key for result in results}
    return [
        verdict
        for verdict in judgement.verdicts
        if verdict.job_key not in known and verdict.word is not VerdictStatus.PASS
    ]


def headline(judgement: RunVerdict) -> tuple[str, str]:
    """(FAIL, the reason): a reason that opens with the word itself is not told twice. Of a long one (a backend's own words about the
    first failure, which stand whole beside that job) the beginning, in whole words."""
    word = judgement.run.word.value.upper()
    reason = judgement.summary.text() if judgement.summary is not None else judgement.run.reason
    if len(reason) <= LONGEST_HEADLINE:
        return word, reason
    # A word of great length (a mangled symbol) is cut all the same.
    most = LONGEST_HEADLINE - 4
    end = reason.rfind(" ", most - 80, most + 1)
    return word, f"{reason[: end if end > 0 else most].rstrip(' ;,')} ..."


def skipped_note(judgement: RunVerdict) -> str:
    """`9 of 12 jobs skipped`, which stands beside a PASS wherever that stands; "" where none was, and for other words, which say why."""
    words = [verdict.word for verdict in judgement.verdicts if verdict.job_key]
    skipped = words.count(VerdictStatus.SKIP)
    if judgement.run.word is not VerdictStatus.PASS or not skipped:
        return ""
    return f"{skipped} of {len(words)} job{'' if len(words) == 1 else 's'} skipped"


def counts(items: Sequence[Row] | Sequence[Entry]) -> dict[str, int]:
    """How many rows (or jobs) of each word, gravest first, words that do not occur left out."""
    total = dict.fromkeys(SEVERITY, 0)
    for item in items:
        total[item.word] += 1
    return {word: count for word, count in total.items() if count}


def _kept_s(result: MeasureResult | None, name: str) -> float | None:
    """Of a result whose samples are no longer kept."""
    kept = result.kept_metrics.get(name) if result else None
    return None if kept is None else kept / 1e3


def figures(alike: Sequence[Entry]) -> Figures:
    """The worst error, the smallest batch size's latency, the highest peak and the artifact of these jobs."""
    results = [entry.result for entry in alike if entry.result is not None]
    metrics = [comparison.metrics for result in results for comparison in comparisons_of(result)]
    taken = [measurement for result in results for measurement in measurements_of(result) if measurement.wall_s]
    memories = [result.memory for result in results if isinstance(result, MeasureResult)]
    measured = min(taken, key=lambda measurement: measurement.batch, default=None)
    kept = next((result for result in results if isinstance(result, MeasureResult) and result.kept_metrics), None)
    return Figures(
        budget_used=_worst([each["budget_used"] for each in metrics if "budget_used" in each]),
        max_abs=_worst([each["max_abs"] for each in metrics if "max_abs" in each]),
        median_s=percentile(measured.wall_s, 50.0) if measured else _kept_s(kept, "latency.median_ms"),
        p90_s=percentile(measured.wall_s, 90.0) if measured else _kept_s(kept, "latency.p90_ms"),
        batch=measured.batch
        if measured
        else min((measurement.batch for measurement in measurements_of(kept)), default=0)
        if kept
        else 0,
        memory_bytes=max((max(memory.load_peak_bytes, memory.run_peak_bytes) for memory in memories), default=0),
        artifact_bytes=max((facts_of(result).artifact_bytes for result in results), default=0),
        is_bound=any("coarse_tolerance" in each for each in metrics),
        slowdown_percent=_worst([change for result in results for change in slowdowns(result)]),
    )


def _worst(values: Sequence[float]) -> float | None:
    """NaN is worse than anything: a maximum must not hide it."""
    return max(values, key=lambda value: (math.isnan(value), value), default=None)


def common_prefix(case: str) -> tuple[str, str]:
    """What a case of a suite is about, and the rest of its name: the operator before the first dash, `operators/conv2d`; of
    ONNX's own cases, whose names have no dash, the first word (`onnx-node/test_add`, `onnx-node/test_reduce`)."""
    suite, slash, bare = case.partition("/")
    if not slash:
        return case, ""
    first, _, rest = bare.partition("-")
    if bare.startswith("test_"):
        test, word, *others = bare.split("_")
        first, rest = f"{test}_{word}", "_".join(others)
    return f"{suite}/{first}", rest
