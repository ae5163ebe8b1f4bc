"""Where runs and results are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict


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


class Store(Protocol):
    """The history, opened with its location: what `--history` names. `NAME://...` picks the store whose entry point is called NAME.
    One writer at a time; a second waits. Conformance: `assay.testing.check_store`."""

    def open_run(self, run: Run) -> None:
        """Record a run before its first job. Opening the same run again changes nothing."""
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

    def runs(self, limit: int = 50) -> list[RunSummary]:
        """Newest first."""
        ...

    def results(self, run_id: str) -> list[Result]:
        """In the order recorded."""
        ...

    def close(self) -> None: ...
