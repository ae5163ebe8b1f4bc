"""What a dashboard asks of a history: how everything stands now, one page of a matrix, one cell of one run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.comparison import StatedMetric
from assay.core.result import Result
from assay.core.run import Run
from assay.ports.store import RunSummary


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


RED = "red"
"""In the place of a verdict: whatever blocks a release."""


class CellQuery(msgspec.Struct, frozen=True):
    """Which jobs are asked for; "" asks nothing. `run` is an id, the beginning of one or "last"; without it, the newest result of every
    job is asked for. `case` and `flow` are parts of names, in any case, or with `exact` whole ones; `outcome` and `word` are whole;
    `word` may be `RED`."""

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


class JobPair(msgspec.Struct, frozen=True):
    """One job in two runs: outcome and verdict in each, None where that run does not have it."""

    job_key: str
    case: str
    flow: str
    old: tuple[str, str] | None
    new: tuple[str, str] | None


class RunPair(msgspec.Struct, frozen=True):
    """Two runs: all jobs of those cells in which a job has another outcome or another verdict, or is in one run alone. `cells` counts those
    of both runs, `common` the jobs that both have."""

    changed: tuple[JobPair, ...]
    cells: int
    common: int


class RunMetrics(msgspec.Struct, frozen=True):
    """Metrics of one result; `names` are those of all that it has."""

    run: str
    case: str
    flow: str
    metrics: dict[str, float]
    names: tuple[str, ...] = ()


class MetricPoint(msgspec.Struct, frozen=True):
    """A metric of one result. `versions` is a key of `MetricHistory.versions`; `spread_ms` percentiles of the raw samples behind a median
    latency, () where there are none."""

    run: str
    started_at: str
    commit: str
    machine: str
    value: float
    versions: int
    spread_ms: tuple[float, ...] = ()


class RunWindow(msgspec.Struct, frozen=True):
    """The newest `runs` runs on one kind of machine, "" for that of the newest run, and the newest `beside` on each other kind: of those
    that began from the day `since` to the day `until`, "" for no end; days as 2026-11-27."""

    runs: int
    since: str = ""
    until: str = ""
    machine: str = ""
    beside: int = 0


class MetricHistory(msgspec.Struct, frozen=True):
    """One `metric` of one cell through the runs that were asked for, the newest first; "" where the cell has no result. `names` are all
    metrics that a result of them has, `stated` what plug-ins say of theirs, `machine` the kind of machine that was asked for, or that of
    the newest result. `machines` are all kinds of machine that ever ran the cell, with how many runs each has in the days of the
    `window`. `earlier`: in those days that machine has runs before the ones here."""

    metric: str
    names: tuple[str, ...]
    stated: dict[str, StatedMetric]
    machine: str
    points: tuple[MetricPoint, ...]
    versions: dict[int, dict[str, str]]
    earlier: bool = False
    machines: dict[str, int] = {}
    window: RunWindow | None = None


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


class CaseCount(msgspec.Struct, frozen=True):
    """How many jobs of a case stand so."""

    case: str
    outcome: str
    word: str
    jobs: int


class Standing(msgspec.Struct, frozen=True):
    """How everything stands now. `recent` is the first run that counts as recent ("": there is none). Each list has at most as many as
    were asked for, the newest first: `newly_red` were ok and have not been since a recent run, `newly_green` the other way round,
    `red` are all that are not well, `turning` went to and fro in the runs that were looked at. `counts` are those of all flows, `of_cases`
    those of as many cases as were asked for, the worst of all `cases`."""

    recent: str
    counts: tuple[Count, ...]
    red: tuple[JobState, ...]
    newly_red: tuple[JobState, ...]
    newly_green: tuple[JobState, ...]
    inconclusive: tuple[JobState, ...]
    turning: tuple[Unsteady, ...]
    of_cases: tuple[CaseCount, ...] = ()
    cases: int = 0


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

    def metric_history(
        self, case: str, flow: str, metrics: Sequence[str], window: RunWindow | None = None
    ) -> MetricHistory:
        """Of the first metric of `metrics` that the cell has, or of the first that it has at all. What lies outside of the window is not
        read; where nothing lies inside, there are no points, and the rest is that of the newest runs. None: all runs."""
        ...

    def run_pair(self, old: str, new: str) -> RunPair:
        """Ids as in `Store.run`."""
        ...

    def same_cells(
        self, old: str, new: str, changed: Collection[tuple[str, str]], first: int, count: int
    ) -> Sequence[JobPair]:
        """The jobs of some cells in the order of their names, without those that are `changed`: of which `run_pair` has something."""
        ...

    def previous_run(self, run_id: str) -> str:
        """The newest complete run before that one which has one of its jobs; "" where there is none."""
        ...

    def run_metrics(
        self, run_ids: Sequence[str], cells: Collection[tuple[str, str]], metrics: Collection[str] | None = None
    ) -> Sequence[RunMetrics]:
        """The `metrics` metrics, or all, of these runs and cells, in the order of the ids; those of one run with verifying before
        measuring."""
        ...

    def branches(self, limit: int) -> Sequence[RunSummary]:
        """The newest run of each branch, those that ran last first."""
        ...

    def cell_runs(self, case: str, flow: str, limit: int) -> Sequence[MatrixJob]:
        """What became of the jobs of a cell, the newest run first."""
        ...
