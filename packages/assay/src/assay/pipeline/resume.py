"""Go on with a run that was killed, interrupted or lost its history: nothing is run twice, nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Collection

from assay.core.run import Run
from assay.errors import UsageError
from assay.pipeline.adapters import Services
from assay.pipeline.check import record_run
from assay.pipeline.going_on import resumable
from assay.pipeline.model_files import is_another, is_gone, known_digests, models_of
from assay.pipeline.open_run import Checked


def resume(run_id: str, services: Services) -> Checked:
    """The rest of the run's jobs, and the same judgement as if nothing had happened. Raises UsageError when complete."""
    run = services.store.run(run_id)
    if run.status == "complete":
        raise UsageError(f"run {run.id} is complete: `assay report {run.id}` shows it, `assay check` makes a new one")
    if not resumable(run):
        raise UsageError(f"run {run.id} is one of mutants, which cannot be gone on with: repeat {run.command}")
    _, journalled = services.read_journal(services.journal_path(run.id))
    services.store.record(run.id, journalled)
    results = services.store.results(run.id)
    _check_files(run, {result.job_key for result in results})
    return services.jobs.complete(record_run(run, services, results, resumed=True))


def _check_files(run: Run, done: Collection[str]) -> None:
    """Raises UsageError where a model is gone, or another than the one that the run began with: engines would be blamed, or the rest
    would be judged beside answers of that."""
    models = {
        (model.source, model.digest): model for job in run.jobs if job.key not in done for model in models_of(job.case)
    }
    for model in models.values():
        for path, digest in known_digests(model).items() if model.digest else ():
            if is_gone(path):
                raise UsageError(_gone(path, run))
            if is_another(path, digest):
                raise UsageError(
                    f"{path} is not what run {run.id} began with: put the file back, or begin again with {run.command}"
                )


def _gone(path: str, run: Run) -> str:
    if os.path.isabs(path):
        return f"{path} is not there: put it back, or begin again with {run.command}"
    return f"{path} is not in this folder: put it back, or resume in the folder where the run began"
