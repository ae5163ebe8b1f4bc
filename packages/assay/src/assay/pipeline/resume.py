"""Go on with a run that was killed, interrupted or lost its history: nothing is run twice, nothing is lost."""

from __future__ import annotations

from assay.errors import UsageError
from assay.pipeline.adapters import Services
from assay.pipeline.check import record_run
from assay.pipeline.going_on import resumable
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
    return services.jobs.complete(record_run(run, services, services.store.results(run.id), resumed=True))
