"""Where runs and results are kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from assay.core.alert import Alert
from assay.core.annotation import Annotation
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict, VerdictStatus


class RunSummary(msgspec.Struct, frozen=True):
    """One line of `assay runs`, from the summary table. `word` is empty while the run is not judged."""

    id: str
    started_at: str
    status: str
    command: str
    jobs: int
    recorded: int
    word: str = ""
    passed: int = 0
    failed: int = 0
    other: int = 0
    commit: str = ""
    machine: str = ""
    branch: str = ""

    @property
    def name_of_other(self) -> str:
        """What `other` counts: in a run that passes, jobs that were skipped; else also those that are undecided or have no answer."""
        return "skipped" if self.word == VerdictStatus.PASS.value else "other"


class RunSearch(msgspec.Struct, frozen=True):
    """Which runs are asked for; "" asks nothing. `commit` and `model` are the beginning of a commit and of a model's digest, `model` may
    be a model's name; `machine` is a part of the kind of machine, in any case; `code` one that a result has;
    `branch` is whole; `before` the id of a run that began later."""

    commit: str = ""
    machine: str = ""
    model: str = ""
    code: str = ""
    branch: str = ""
    before: str = ""


class PastResult(msgspec.Struct, frozen=True):
    """A result of one cell, and what a trend asks of its run. `machine` is the kind of machine."""

    run_id: str
    started_at: str
    commit: str
    machine: str
    result: Result


class Store(Protocol):
    """The history, opened with its location: what `--history` names. `NAME://...` picks the store whose entry point is called NAME.
    Writers may wait for each other, and lose nothing. Conformance: `assay.testing.check_store`."""

    def open_run(self, run: Run) -> None:
        """Record a run before its first job. Opening the same run again changes nothing; one of another time, commit or machine with its
        id raises `assay.errors.OtherRun`."""
        ...

    def record(self, run_id: str, results: Sequence[Result]) -> None:
        """Append results in one transaction; idempotent by (run, job key): a second copy changes nothing."""
        ...

    def close_run(self, run_id: str, status: str, judgement: RunVerdict) -> None:
        """Set the status and keep the words of the judgement in the summary and current-state tables."""
        ...

    def run(self, run_id: str) -> Run:
        """The run with that id, or a unique prefix of it, or "last". Raises `assay.errors.RunNotFound`."""
        ...

    def runs(self, limit: int = 50, search: RunSearch = RunSearch()) -> list[RunSummary]:
        """Newest first."""
        ...

    def results(self, run_id: str, jobs: Collection[str] | None = None) -> list[Result]:
        """In the order recorded; with `jobs`, those with these job keys: nothing else is read."""
        ...

    def history(self, case: str, flow: str) -> list[PastResult]:
        """All results of one cell, of every kind of job: newest run first, those of one run in the order recorded. No result of
        another cell is read: this is what a trend is drawn from."""
        ...

    def run_before(self, run_id: str, cells: Collection[tuple[str, str]]) -> str:
        """The newest complete run before `run_id` that has a result of one of these cells (case, flow); "" where there is none."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class RollsUp(Protocol):
    """A history that can shorten old results. Without it: they are kept whole."""

    def roll_up(self, before: str, shorten: Callable[[Result], Result | None]) -> int:
        """Put what `shorten` makes of the results of complete runs that began before then (as `Run.started_at` says it) in their place;
        None: as it is. What was done stays done where this is cut off. Returns how many were shortened."""
        ...


@runtime_checkable
class KeepsAnnotations(Protocol):
    """A history that can keep what people write about runs and points of trends."""

    def add_annotation(self, annotation: Annotation) -> None:
        """Raises `assay.errors.RunNotFound` where its run is not there."""
        ...

    def annotations(
        self, run_id: str = "", case: str = "", flow: str = "", limit: int | None = None
    ) -> list[Annotation]:
        """The oldest first: of a cell, in one run or in all; of a run as a whole where no cell is named; all where nothing is. With a
        `limit`: so many of the newest. `run_id` is a whole id."""
        ...


@runtime_checkable
class KeepsAlerts(Protocol):
    """A history that can keep open alerts, so that a cause is told once whichever machine sees it."""

    def change_alerts(self, change: Callable[[list[Alert]], Sequence[Alert]]) -> None:
        """Put what `change` makes of all alerts in their place, in one transaction that no other writer comes between."""
        ...

    def alerts(self) -> list[Alert]:
        """The oldest first."""
        ...
