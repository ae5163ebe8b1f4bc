"""What changed from one run to another: outcomes and figures, cell by cell."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.result import Result
from assay.judge.figures import figures
from assay.pipeline.house import House

NOTABLE = 0.01
"""Relative change below which a figure is left out of the list: a diff tells, it does not judge."""


class FigureChange(msgspec.Struct, frozen=True):
    """One figure of one cell; None where a run does not have it."""

    job_key: str
    figure: str
    old: float | None
    new: float | None


class RunDiff(msgspec.Struct, frozen=True):
    """`outcomes` are (job key, old, new), "" where a run lacks the cell."""

    old: str
    new: str
    outcomes: tuple[tuple[str, str, str], ...]
    figures: tuple[FigureChange, ...]


def diff(old_id: str, new_id: str, house: House) -> RunDiff:
    """Raises RunNotFound."""
    old, new = house.store.run(old_id), house.store.run(new_id)
    before, after = _by_key(house.store.results(old.id)), _by_key(house.store.results(new.id))
    outcomes, changes = [], []
    for key in sorted(before.keys() | after.keys()):
        one, two = before.get(key), after.get(key)
        words = (one.outcome.value if one else "", two.outcome.value if two else "")
        if words[0] != words[1]:
            outcomes.append((key, *words))
        if one and two:
            changes += _changes(key, figures(one), figures(two))
    return RunDiff(old.id, new.id, tuple(outcomes), tuple(changes))


def _by_key(results: Sequence[Result]) -> dict[str, Result]:
    return {result.job_key: result for result in results}


def _changes(key: str, old: dict[str, float], new: dict[str, float]) -> list[FigureChange]:
    found = []
    for name in sorted(old.keys() | new.keys()):
        one, two = old.get(name), new.get(name)
        if one is None or two is None or abs(two - one) > NOTABLE * max(abs(one), abs(two)):
            found.append(FigureChange(key, name, one, two))
    return found
