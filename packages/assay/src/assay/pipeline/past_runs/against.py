"""A run beside another one: `assay report --against`."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from assay.core.run import Run
from assay.errors import UsageError
from assay.pipeline.adapters import Services
from assay.pipeline.open_run import Checked
from assay.pipeline.past_runs.run_changes import changes_between

PREVIOUS = "previous"
"""Instead of a run's name."""


def against(run_id: str, checked: Checked, services: Services, *, past: bool = True) -> Checked:
    """The checked run with what changed since the run that is named, or since the `previous` one with the same cells. `past` as in
    `changes_between`. Raises RunNotFound, and UsageError where the two have no case on one flow in common."""
    new = checked.run
    old = _previous(checked, services) if run_id == PREVIOUS else services.store.run(run_id)
    if old.id == new.id:
        raise UsageError(f"run {new.id} is compared with itself: name another one, `assay runs` lists them")
    ours, theirs = _cells_of(new), _cells_of(old)
    if not ours & theirs:
        raise UsageError(
            f"run {old.id} is about other models: it has {_first(theirs)}, run {new.id} has {_first(ours)}; name a run with the same "
            "cases and flows, `assay runs` lists them"
        )
    changes = changes_between(old, new, checked.results, checked.judgement, services, past=past)
    return dataclasses.replace(checked, judgement=replace(checked.judgement, changes=changes))


def _previous(checked: Checked, services: Services) -> Run:
    before = services.store.run_before(checked.run.id, _cells_of(checked.run))
    if before:
        return services.store.run(before)
    raise UsageError(f"no run before {checked.run.id} has the same cases and flows: name one, `assay runs` lists them")


def _cells_of(run: Run) -> set[tuple[str, str]]:
    return {(job.case.name, job.subject) for job in run.jobs}


def _first(cells: set[tuple[str, str]]) -> str:
    if not cells:
        return "nothing"
    case, flow = min(cells)
    return f"{case} on {flow}{f' and {len(cells) - 1} more' if len(cells) > 1 else ''}"
