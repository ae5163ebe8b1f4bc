"""How a run that was cut off is gone on with."""

from __future__ import annotations

import shlex

from assay.core.job import LoadJob, MutationScoreJob
from assay.core.run import Run
from assay.options.groups import DEFAULT_HISTORY, history_words


def resumable(run: Run) -> bool:
    """False for a run of mutants: which were to come is not in it."""
    return not any(isinstance(job, MutationScoreJob | LoadJob) for job in run.jobs)


def resume_command(run_id: str, history: str = DEFAULT_HISTORY, on: str = "") -> str:
    """The line to type. `on` as in `Services`."""
    return shlex.join(["assay", "resume", run_id, *history_words(history), *(["--on", on] if on else [])])


def what_to_do(run: Run, history: str, on: str = "") -> str:
    """Where the command that runs it is interrupted."""
    if resumable(run):
        return f"`{resume_command(run.id, history, on)}` goes on with it"
    return f"run {run.id} has what was done; begin it again"
