"""One page of a matrix. The names are looked for first: those of a run beside its summary, those of the present state step by step
through an index. So what a page costs goes with the names, and not with the jobs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import JSON, ColumnElement, Connection, Select, String, and_, cast, func, literal, or_, select

from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.ports.browsing import RED, CellQuery, MatrixJob, MatrixPage
from assay.stores.dashboard_queries import red
from assay.stores.find_run import find_run
from assay.stores.history_tables import case_state, results, runs
from assay.stores.run_names import AXES, Kind, run_cell_rows, run_names
from assay.stores.statements import among, chunks

_FEW, _AT_ONCE = 64, 1000
"""Names in the first statement, which most often has all that a page shows, and at most in one of those after it."""
_LISTED = 100
"""Names on the other axis that a statement lists; of more it looks for the part of the name."""
_FRESH_S = 60.0

_state = case_state.c


@dataclass
class StateNames:
    """All names of the present state, kept while no job is new: jobs have rising numbers, and go by no other name later. Of two that
    were written side by side the later number may be seen first: after a minute they are read again."""

    known: dict[str, tuple[int, float, list[str]]] = field(default_factory=dict)

    def read(self, connection: Connection, axis: str) -> list[str]:
        """In the order of the database."""
        newest = connection.scalar(select(func.max(_state.number))) or 0
        number, until, names = self.known.get(axis, (-1, 0.0, []))
        if number != newest or time.monotonic() > until:
            names = _steps(connection, AXES[axis])
            self.known[axis] = newest, time.monotonic() + _FRESH_S, names
        return names


def _steps(connection: Connection, column: ColumnElement[str]) -> list[str]:
    """From each name to the next one, by the index that begins with them: every other query looks at every job."""
    walk = select(func.min(column).label("name")).cte("walk", recursive=True)
    following = select(func.min(column)).where(column > walk.c.name).correlate(walk).scalar_subquery()
    walk = walk.union_all(select(following).where(walk.c.name.is_not(None)))
    return list(connection.scalars(select(walk.c.name).where(walk.c.name.is_not(None))))


def matrix(
    connection: Connection,
    query: CellQuery,
    cases: tuple[int, int],
    flows: tuple[int, int],
    name: str,
    known: StateNames,
) -> MatrixPage:
    """See `ports.Browsable.matrix`: `cases` and `flows` are the first and how many; `name` is that of the history."""
    number = find_run(connection, query.run, name) if query.run else 0
    search = _Search(connection, query, number, known)
    shown_cases, more_cases = search.page("case", *cases)
    shown_flows, more_flows = search.page("flow", *flows)
    jobs = search.jobs(shown_cases, shown_flows) if shown_cases and shown_flows else ()
    return MatrixPage(tuple(shown_cases), tuple(shown_flows), tuple(jobs), more_cases, more_flows)


class _Search:
    """The names of a run, or of the present state where `number` is 0, that have a job as the query asks."""

    def __init__(self, connection: Connection, query: CellQuery, number: int, known: StateNames) -> None:
        self._connection, self._query, self._number = connection, query, number
        self._kinds = _wanted(query) if query.outcome or query.word else None
        if number:
            names = self._names = run_names(connection, number)
            self._kinds = self._kinds and [kind for kind in names.kinds if kind in self._kinds]
            self._all = {axis: [name for name, _ in names.named(axis)] for axis in AXES}
            having = {
                axis: self._all[axis] if self._kinds is None else names.having(axis, self._kinds) for axis in AXES
            }
        else:
            self._all = having = {axis: known.read(connection, axis) for axis in AXES}
            self._kinds = self._kinds and self._there(self._kinds)
        self._named = {axis: self._asked(axis, having[axis]) for axis in AXES}

    def page(self, axis: str, first: int, count: int) -> tuple[list[str], bool]:
        """So many names from the `first` on, and whether others come after these."""
        names: list[str] = []
        for some in self._checked(axis):
            names += some
            if len(names) > first + count:
                break
        return names[first : first + count], len(names) > first + count

    def jobs(self, cases: Sequence[str], flows: Sequence[str]) -> Iterator[MatrixJob]:
        """In the cells of these. Of a run they are looked up by their numbers: as a part of one query PostgreSQL reads the whole run where
        its statistics are older than that."""
        here = among(self._connection, _state.case, cases), among(self._connection, _state.flow, flows)
        named = (_state.case, _state.flow, _state.kind)
        if not self._number:
            query = select(*named, _state.outcome, _state.word, runs.c.id).join(runs, runs.c.number == _state.run)
            for row in self._connection.execute(query.where(*here, *self._of_kind()).order_by(_state.number)).all():
                yield MatrixJob(*row)
            return
        run_id = self._connection.execute(select(runs.c.id).where(runs.c.number == self._number)).scalar_one()
        cells = self._connection.execute(select(_state.number, *named).where(*here).order_by(_state.number)).all()
        job_words = select(results.c.job, results.c.outcome, results.c.word).where(*self._of_run())
        for some in chunks(cells):
            numbers = among(self._connection, results.c.job, [cell.number for cell in some])
            rows = self._connection.execute(job_words.where(numbers)).all()
            by_job = {row.job: (row.outcome, row.word) for row in rows}
            for cell in some:
                if cell.number in by_job:
                    yield MatrixJob(cell.case, cell.flow, cell.kind, *by_job[cell.number], run_id)

    def _of_run(self) -> list[ColumnElement[bool]]:
        return [results.c.run == self._number, *self._of_kind()]

    def _of_kind(self) -> list[ColumnElement[bool]]:
        columns = results.c if self._number else _state
        if self._kinds is None:
            return []
        return [
            or_(
                literal(False),
                *(and_(columns.outcome == outcome, columns.word == word) for outcome, word in self._kinds),
            )
        ]

    def _asked(self, axis: str, names: list[str]) -> list[str]:
        part = self._query.case if axis == "case" else self._query.flow
        if not part:
            return names
        if self._query.exact:
            return [name for name in names if name == part]
        lower = part.lower()
        return [name for name in names if lower in name.lower()]

    def _checked(self, axis: str) -> Iterator[list[str]]:
        """Those that have such a job on a name of the other axis that is asked for. Where nothing is asked of that one, the names of a run
        are right as they are."""
        other = "flow" if axis == "case" else "case"
        narrows = len(self._named[other]) < len(self._all[other]) and bool(
            self._query.flow if axis == "case" else self._query.case
        )
        names = self._named[axis] if self._kinds != [] and (self._named[other] or not narrows) else []
        if not narrows and (self._number or self._kinds is None):
            yield names
            return
        if self._number and names and (of_run := self._of_cells(axis, names)) is not None:
            yield of_run
            return
        conditions = self._on(other) if narrows else []
        start, size = 0, _FEW
        while start < len(names):
            some = names[start : start + size]
            start, size = start + size, min(2 * size, _AT_ONCE)
            having = set(self._having(AXES[axis], some, conditions))
            yield [name for name in some if name in having]

    def _of_cells(self, axis: str, names: list[str]) -> list[str] | None:
        """Those that have such a job on a name of the other axis, by the bits that are kept with a run; None where they are not."""
        rows = run_cell_rows(self._connection, self._number, self._names, self._kinds)
        if rows is None:
            return None
        places = {name_axis: {name: place for place, name in enumerate(self._all[name_axis])} for name_axis in AXES}
        if axis == "case":
            flows = sum(1 << places["flow"][name] for name in self._named["flow"])
            return [name for name in names if rows[places["case"][name]] & flows]
        flows = 0
        for name in self._named["case"]:
            flows |= rows[places["case"][name]]
        return [name for name in names if flows >> places["flow"][name] & 1]

    def _on(self, axis: str) -> list[ColumnElement[bool]]:
        names, column = self._named[axis], AXES[axis]
        if len(names) <= _LISTED:
            return [column.in_(names)]
        part = self._query.case if axis == "case" else self._query.flow
        return [func.lower(column).contains(part.lower(), autoescape=True)]

    def _having(
        self, column: ColumnElement[str], names: Sequence[str], conditions: list[ColumnElement[bool]]
    ) -> Iterator[str]:
        """Each name by itself: as a part of one query PostgreSQL joins all jobs of the run."""
        listed = _listed(self._connection, names)
        kinds = self._kinds if self._kinds is not None and not self._number else [None]
        having = (self._first(column == listed.c.value, *conditions, *_is(kind)).correlate(listed) for kind in kinds)
        query = select(listed.c.value).where(or_(*(job.scalar_subquery().is_not(None) for job in having)))
        return iter(self._connection.scalars(query))

    def _first(self, *conditions: ColumnElement[bool]) -> Select[Any]:
        query = select(_state.number).where(*conditions).limit(1)
        if not self._number:
            return query
        result = select(results.c.number).where(results.c.job == _state.number, *self._of_run()).limit(1)
        return query.where(result.correlate(case_state).scalar_subquery().is_not(None))

    def _there(self, kinds: Sequence[Kind]) -> list[Kind]:
        """Those that a job has now: two or three of a hundred."""
        outcomes, words = (sorted({kind[place] for kind in kinds}) for place in (0, 1))
        outcome, word = (_listed(self._connection, values, name) for values, name in ((outcomes, "o"), (words, "w")))
        # The next word from that one on: of any one job PostgreSQL expects to meet it soon, and reads the whole table where there is none.
        least = select(func.min(_state.word)).where(_state.outcome == outcome.c.value, _state.word >= word.c.value)
        query = select(outcome.c.value, word.c.value).join_from(outcome, word, literal(True))
        rows = self._connection.execute(query.where(least.correlate(outcome, word).scalar_subquery() == word.c.value))
        there = {tuple(row) for row in rows}
        return [kind for kind in kinds if kind in there]


def _is(kind: Kind | None) -> list[ColumnElement[bool]]:
    return [] if kind is None else [_state.outcome == kind[0], _state.word == kind[1]]


def _wanted(query: CellQuery) -> list[Kind]:
    kinds = ((outcome.value, word) for outcome in Outcome for word in ("", *(status.value for status in VerdictStatus)))
    return [
        (outcome, word)
        for outcome, word in kinds
        if query.outcome in ("", outcome) and (red(outcome, word) if query.word == RED else query.word in ("", word))
    ]


def _listed(connection: Connection, values: Sequence[str], name: str = "listed") -> Any:
    """A table of these values, one a row."""
    text = literal(json.dumps(list(values)), String)
    if connection.dialect.name == "postgresql":
        return func.json_array_elements_text(cast(text, JSON)).table_valued("value", name=name)
    return func.json_each(text).table_valued("value", name=name)
