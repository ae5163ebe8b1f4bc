"""What changed from one run to another: outcomes and metrics, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.result import Result
from assay.judge.named_metrics import metrics
from assay.pipeline.adapters import Services
from assay.pipeline.merge import saved_run

NOTABLE = 0.01
"""Relative change below which a metric is left out of the list: a diff tells, it does not judge."""


class MetricChange(msgspec.Struct, frozen=True):
    """One metric of one cell; None where a run does not have it."""

    job_key: str
    metric: str
    old: float | None
    new: float | None


class RunDiff(msgspec.Struct, frozen=True):
    """`outcomes` are (job key, old, new), "" where a run lacks the cell."""

    old: str
    new: str
    outcomes: tuple[tuple[str, str, str], ...]
    figures: tuple[MetricChange, ...]

    def newly_failing(self) -> tuple[tuple[str, str, str], ...]:
        """What was ok and is not any more, or is not there any more."""
        return tuple(outcome for outcome in self.outcomes if outcome[1] == "ok")

    def newly_passing(self) -> tuple[tuple[str, str, str], ...]:
        """What was there and not ok, and is now."""
        return tuple(outcome for outcome in self.outcomes if outcome[1] and outcome[2] == "ok")


def diff(old_id: str, new_id: str, services: Services) -> RunDiff:
    """Each a run of the history, or a file that `assay run --save` wrote. Raises RunNotFound, UsageError."""
    (old, one_by_one), (new, others) = _found(old_id, services), _found(new_id, services)
    before, after = _by_key(one_by_one), _by_key(others)
    outcomes, changes = [], []
    for key in sorted(before.keys() | after.keys()):
        old_result, two = before.get(key), after.get(key)
        words = (old_result.outcome.value if old_result else "", two.outcome.value if two else "")
        if words[0] != words[1]:
            outcomes.append((key, *words))
        if old_result and two:
            changes += _changes(key, metrics(old_result), metrics(two))
    return RunDiff(old, new, tuple(outcomes), tuple(changes))


def _found(run_or_file: str, services: Services) -> tuple[str, Sequence[Result]]:
    if Path(run_or_file).is_file():
        run, results = saved_run(Path(run_or_file))
        return run.id, results
    run = services.store.run(run_or_file)
    return run.id, services.store.results(run.id)


def _by_key(results: Sequence[Result]) -> dict[str, Result]:
    return {result.job_key: result for result in results}


def _changes(key: str, old: dict[str, float], new: dict[str, float]) -> list[MetricChange]:
    changes = []
    for name in sorted(old.keys() | new.keys()):
        old_value, two = old.get(name), new.get(name)
        if old_value is None or two is None or abs(two - old_value) > NOTABLE * max(abs(old_value), abs(two)):
            changes.append(MetricChange(key, name, old_value, two))
    return changes
