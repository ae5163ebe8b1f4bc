"""Old beside new: the same flow in two environments of one run, with the version of each and what changed between them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from assay.core.environment import split_flow
from assay.core.result_parts import facts_of
from assay.reports import format as text
from assay.reports.columns import columns_of
from assay.reports.rows import Row

COLUMNS = [column for column in columns_of("upgrades") if column.value is not None]
HEADER = ("", "Version", "Verdict", *(column.header for column in COLUMNS))


@dataclass(frozen=True)
class Upgrade:
    """One case: a line for each version, the oldest first, and below each newer one how its metrics moved, in percent."""

    case: str
    flow: str
    lines: tuple[tuple[str, ...], ...]


def upgrades(table_rows: Sequence[Row]) -> list[Upgrade]:
    """Every case that ran on one flow in several environments, of different versions of the backend."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in table_rows:
        groups.setdefault((row.case, split_flow(row.flow)[0]), []).append(row)
    pairs = []
    for (case, flow), rows in groups.items():
        versions = {row.flow: version_of(row) for row in rows}
        if len(set(versions.values()) - {""}) > 1:
            pairs.append(Upgrade(case, flow, _lines(sorted(rows, key=lambda row: _order(versions[row.flow])))))
    return pairs


def version_of(row: Row) -> str:
    """Of the backend, as its engine told; "" where it built none."""
    versions = (facts_of(entry.result).backend_version for entry in row.entries if entry.result is not None)
    return next(filter(None, versions), "")


def _order(version: str) -> tuple[tuple[int, int | str], ...]:
    """1.9 comes before 1.27; what is unknown first."""
    return tuple((1, int(part)) if part.isdigit() else (0, part) for part in re.findall(r"\d+|[a-z]+", version))


def _lines(rows: Sequence[Row]) -> tuple[tuple[str, ...], ...]:
    lines = [_line(rows[0])]
    for old, new in pairwise(rows):
        lines += [_line(new), _moved(old, new)]
    return tuple(lines)


def _line(row: Row) -> tuple[str, ...]:
    shown = (column.shown(row) for column in COLUMNS)
    return (row.flow, version_of(row) or "unknown", row.word or "not run", *shown)


def _moved(old: Row, new: Row) -> tuple[str, ...]:
    word = "same" if old.word == new.word else f"{old.word or 'not run'} -> {new.word or 'not run'}"
    moves = (_percent(column.exact(old), column.exact(new)) for column in COLUMNS)
    return ("change", "", word, *moves)


def _percent(old: float | None, new: float | None) -> str:
    if not old or new is None:
        return ""
    return text.change(100.0 * (new / old - 1.0))
