"""What a code host shows beside a change: each thing that is not well once, with its file, the gravest first; critical warnings last."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from assay.core.job_base import Job
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.options.repro import repro_line
from assay.reports.critical import critical
from assay.reports.rows import SEVERITY, Row, group_identical, rows, run_verdicts
from assay.reports.sanitize import one_line

WARNING = "warning"
"""The word of a critical warning, which is no verdict: a job that passes may have one."""
QUIET = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value, VerdictStatus.SKIP.value)


class Remark(msgspec.Struct, frozen=True):
    """`word` is a verdict, `WARNING`, or "" for a job that never ran; `path` the model's file from where the run was started, "" where it
    is no file below that folder; `repeat` the command that repeats it, "" for what belongs to no job; `log` the file of what it wrote."""

    word: str
    title: str
    text: str
    path: str = ""
    repeat: str = ""
    log: str = ""


def remarks(run: Run, results: Sequence[Result], judgement: RunVerdict) -> list[Remark]:
    """Jobs of one case and flow that say the same are one remark."""
    texts = [
        Remark(verdict.word.value, "run", one_line(verdict.reason)) for verdict in run_verdicts(run, results, judgement)
    ]
    table_rows = rows(run, results, judgement)
    for row in table_rows:
        for together in group_identical(row):
            entry = together[0]
            kinds = ", ".join(member.kind for member in together)
            title = one_line(f"{row.case} on {row.flow}: {kinds}")
            path = _file(entry.job) if entry.job is not None else ""
            log = one_line(entry.result.log_file) if entry.result is not None else ""
            repeat = one_line(repro_line(run, entry.asked))
            texts.append(Remark(entry.word, title, one_line(entry.reason), path, repeat, log))
    shown = [remark for remark in texts if remark.word not in QUIET]
    shown.sort(key=lambda remark: SEVERITY.index(remark.word))
    return shown + _warnings(table_rows, judgement)


def _warnings(table_rows: Sequence[Row], judgement: RunVerdict) -> list[Remark]:
    paths = {
        (one_line(row.case), one_line(row.flow)): _file(job)
        for row in table_rows
        if (job := row.entries[0].job) is not None
    }
    return [
        Remark(
            WARNING,
            f"{warning.case} on {warning.flow}: {warning.kind}",
            warning.text,
            paths.get((warning.case, warning.flow), ""),
        )
        for warning in critical(table_rows, judgement.changes)
    ]


def _file(job: Job) -> str:
    """Pure: whether there is such a file is not looked at. A path from the root, a git reference or a URL names no file of the change."""
    source = job.case.model.source
    path = PurePath(source)
    inside = source and not path.is_absolute() and ".." not in path.parts and path.suffix in (".onnx", ".pt2", ".py")
    return path.as_posix() if inside and ":" not in source else ""
