"""What a dashboard asks of a history: how everything stands now, one page of a matrix, one cell of one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.result import Result
from assay.core.run import Run


class JobState(msgspec.Struct, frozen=True):
    """How one job stands now: the outcome in its newest run, since which run and for how many runs in a row.

    `word` is the verdict on it in that run, empty while the run is not judged; `last_ok` a run, empty if there is none.
    """

    job_key: str
    case: str
    flow: str
    kind: str
    outcome: str
    word: str
    run: str
    since: str
    streak: int
    last_ok: str


class CellQuery(msgspec.Struct, frozen=True):
    """Which jobs are asked for; "" asks nothing. `run` is an id, the beginning of one or "last"; without it, the newest result of every
    job is asked for. `case` and `flow` are parts of names, in any case, or with `exact` whole ones; `outcome` and `word` are whole. Of a
    run whose jobs were done again later no words are known."""

    run: str = ""
    case: str = ""
    flow: str = ""
    outcome: str = ""
    word: str = ""
    exact: bool = False


class MatrixJob(msgspec.Struct, frozen=True):
    """One job of a cell. `word` as in `JobState`, "" where it is not known."""

    case: str
    flow: str
    kind: str
    outcome: str
    word: str
    run: str


class MatrixPage(msgspec.Struct, frozen=True):
    """Some cases and some flows, sorted by name, with the jobs in their cells. `more_cases`: others come after these."""

    cases: tuple[str, ...]
    flows: tuple[str, ...]
    jobs: tuple[MatrixJob, ...]
    more_cases: bool = False
    more_flows: bool = False


class Unsteady(msgspec.Struct, frozen=True):
    """A job whose outcome went from ok to another, or back, `turns` times in `results` results."""

    job_key: str
    case: str
    flow: str
    kind: str
    outcome: str
    run: str
    turns: int
    results: int


class Count(msgspec.Struct, frozen=True):
    """How many jobs of a flow stand so."""

    flow: str
    outcome: str
    word: str
    jobs: int


class Standing(msgspec.Struct, frozen=True):
    """How everything stands now. `recent` is the first run that counts as recent ("": there is none). Each list has at most as many as
    were asked for, the newest first: `newly_red` were ok and have not been since a recent run, `newly_green` the other way round,
    `red` are all that are not well, `turning` went to and fro in the runs that were looked at."""

    recent: str
    counts: tuple[Count, ...]
    red: tuple[JobState, ...]
    newly_red: tuple[JobState, ...]
    newly_green: tuple[JobState, ...]
    inconclusive: tuple[JobState, ...]
    turning: tuple[Unsteady, ...]


@runtime_checkable
class Browsable(Protocol):
    """A history that can answer one page at a time, each by an index. Without it: there is no dashboard."""

    def standing(self, days: float, looked_at: int, limit: int) -> Standing:
        """Recent are runs that began at most `days` before the newest; `looked_at` are the runs in which turns are counted."""
        ...

    def matrix(self, query: CellQuery, first_case: int, cases: int, first_flow: int, flows: int) -> MatrixPage:
        """From case number `first_case` on, and from flow number `first_flow` on. Raises `assay.errors.RunNotFound`."""
        ...

    def cell(self, run_id: str, case: str, flow: str) -> tuple[Run, list[Result]]:
        """The run with the jobs of that cell alone, and its results. `run_id` as in `Store.run`; "": the newest that has the cell."""
        ...

    def said(self, text: str, looked_at: int, limit: int) -> list[tuple[JobState, str]]:
        """Jobs that are not ok now and whose detail or log has that text, in any case, with the line that has it: of the `looked_at` that
        changed last."""
        ...

    def run_facts(self, run_id: str) -> Run:
        """The run without its jobs: of a large one they are most of what is to be read. `run_id` as in `Store.run`."""
        ...

    def cell_runs(self, case: str, flow: str, limit: int) -> Sequence[MatrixJob]:
        """What became of the jobs of a cell, the newest run first."""
        ...
