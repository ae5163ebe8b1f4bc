"""Where the inputs and the answers of each job go that a user wants to keep."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.job import AnyJob, VerifyJob
from assay.errors import UsageError

NPZ = ".npz"


def with_saving(jobs: Sequence[AnyJob], inputs: str, outputs: str) -> list[AnyJob]:
    """The verify jobs told where to leave what they were fed (once for each case) and what their engine answered. Raises
    UsageError where one file would hold those of several."""
    if not inputs and not outputs:
        return list(jobs)
    verified = [job for job in jobs if isinstance(job, VerifyJob)]
    if not verified:
        raise UsageError(
            "--save-inputs and --save-outputs keep what is verified, and nothing is: leave --only-kind out"
        )
    cases = list(dict.fromkeys(job.case.name for job in verified))
    _check(inputs, "--save-inputs", "the inputs of one model", len(cases))
    _check(outputs, "--save-outputs", "the answers of one engine", len(verified))
    first = {job.case.name: job.key for job in reversed(verified)}
    return [_saving(job, inputs, outputs, cases, len(verified), first) for job in jobs]


def _check(path: str, option: str, what: str, count: int) -> None:
    if path.endswith(NPZ) and count > 1:
        raise UsageError(f"{option} {path} holds {what}, and there are {count}: give the name of a folder")


def _saving(job: AnyJob, inputs: str, outputs: str, cases: Sequence[str], count: int, first: dict[str, str]) -> AnyJob:
    if not isinstance(job, VerifyJob):
        return job
    alone = len(cases) == 1
    fed = _below(inputs, [] if alone else [job.case.name]) if first[job.case.name] == job.key else ""
    parts = [] if count == 1 else [job.flow.name] if alone else [job.case.name, job.flow.name]
    return msgspec.structs.replace(job, save_inputs=fed, save_outputs=_below(outputs, parts))


def _below(path: str, parts: Sequence[str]) -> str:
    """A folder below the one that was given; "" where none was."""
    names = [re.sub(r"[^A-Za-z0-9.@+_-]+", "_", part) for part in parts]
    return str(Path(path).absolute().joinpath(*names)) if path else ""
