"""The log of each job as a file: what a report that says "read the log" points to."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from assay.core.digest import sha256_bytes
from assay.core.outcome import Outcome
from assay.core.result import Result, VerifyResult
from assay.core.run import Run
from assay.judge.outcome_table import SKIPPED
from assay.judge.words.repeats_text import asked_again
from assay.judge.words.warnings_text import warnings_of
from assay.options.repro import repro_line

EXPECTED = SKIPPED | {Outcome.OK}
"""Outcomes of which large suites have thousands: of those that wrote nothing nobody reads a log."""
_LONGEST = 80
_NOTHING = "(nothing was written)"


def log_path(run_id: str, job_key: str, folder: Path) -> Path:
    """One file for each job of a run, with a name that every file system takes."""
    readable = re.sub(r"[^A-Za-z0-9.@+_-]+", "_", job_key)[:_LONGEST]
    return folder / "logs" / run_id / f"{readable}-{sha256_bytes(job_key.encode())[:8]}.log"


def with_log(result: Result, run: Run, folder: Path, *, every: bool) -> Result:
    """The result with the file that its log was written to; as it is where there is none: unless `every` is asked for, of what is well and
    of what is skipped without a word of its library; and where the file cannot be written, which must not lose the result."""
    if not every and result.outcome in EXPECTED and (result.outcome is Outcome.OK or not result.log.strip()):
        return result
    path = log_path(run.id, result.job_key, folder)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(result, run), encoding="utf-8", errors="backslashreplace")
    except OSError:
        return result
    return msgspec.structs.replace(result, log_file=str(path))


def _text(result: Result, run: Run) -> str:
    lines = [
        f"job       {result.job_key}",
        f"run       {run.id}",
        f"outcome   {result.outcome.value} in {result.stage.value}",
        *([f"detail    {result.detail}"] if result.detail else []),
        *([f"node      {result.node}"] if result.node else []),
        *([f"signal    {result.signal}"] if result.signal else []),
        f"repeat    {repro_line(run, result)}",
        *(f"version   {name} {version}" for name, version in sorted(result.versions.items())),
        *(f"stage     {time.stage.value} {time.seconds:.3f} s" for time in result.stage_times),
        *(f"warning   {note}" for note in warnings_of(result)),
        *(
            [f"repeats   {repeats}"]
            if isinstance(result, VerifyResult) and (repeats := asked_again(result.repeats))
            else []
        ),
        "",
        "What the job and its libraries wrote:",
        result.log.rstrip() or _NOTHING,
    ]
    return "\n".join(lines) + "\n"
