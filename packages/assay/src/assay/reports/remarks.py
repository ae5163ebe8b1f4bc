"""What a code host shows beside a change: each thing that is not well once, with its file, the gravest first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

import msgspec

from assay.core.job_base import Job
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus
from assay.options.repro import repro_line
from assay.reports.rows import SEVERITY, group_identical, rows, run_verdicts
from assay.reports.sanitize import one_line

QUIET = (VerdictStatus.PASS.value, VerdictStatus.XFAIL.value, VerdictStatus.SKIP.value)


class Remark(msgspec.Struct, frozen=True):
    """`word` is a verdict, "" for a job that never ran; `path` the model's file from where the run was started, "" where it is no
    file below that folder; `repeat` the command that repeats it, "" for what belongs to no job; `log` the file of what it wrote."""

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
    for row in rows(run, results, judgement):
        for together in group_identical(row):
            entry = together[0]
            kinds = ", ".join(member.kind for member in together)
            title = one_line(f"{row.case} on {row.flow}: {kinds}")
            path = _file(entry.job) if entry.job is not None else ""
            log = one_line(entry.result.log_file) if entry.result is not None else ""
            repeat = one_line(repro_line(run, entry.asked))
            texts.append(Remark(entry.word, title, one_line(entry.reason), path, repeat, log))
    shown = [remark for remark in texts if remark.word not in QUIET]
    return sorted(shown, key=lambda remark: SEVERITY.index(remark.word))


def _file(job: Job) -> str:
    """Pure: whether there is such a file is not looked at. A path from the root, a git reference or a URL names no file of the change."""
    source = job.case.model.source
    path = PurePath(source)
    inside = source and not path.is_absolute() and ".." not in path.parts and path.suffix in (".onnx", ".pt2", ".py")
    return path.as_posix() if inside and ":" not in source else ""
