"""A history that keeps nothing: for runs whose results are in a file alone, as those of shards that are merged."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.errors import RunNotFound
from assay.ports import PastResult, RunSearch, RunSummary


class NoHistory:
    """Has the methods of `assay.ports.Store`, and no run is ever in it. No database is opened, nor the library for one imported."""

    def open_run(self, run: Run) -> None: ...

    def record(self, run_id: str, results: Sequence[Result]) -> None: ...

    def close_run(self, run_id: str, status: str, judgement: RunVerdict) -> None: ...

    def run(self, run_id: str) -> Run:
        """Raises RunNotFound."""
        raise RunNotFound(f'there is no run "{run_id}" to look at: with --unrecorded no history is read; leave it out')

    def runs(self, limit: int = 50, search: RunSearch = RunSearch()) -> list[RunSummary]:  # noqa: ARG002
        return []

    def results(self, run_id: str, jobs: Collection[str] | None = None) -> list[Result]:  # noqa: ARG002
        """Raises RunNotFound."""
        self.run(run_id)
        return []

    def history(self, case: str, flow: str) -> list[PastResult]:  # noqa: ARG002
        return []

    def run_before(self, run_id: str, cells: Collection[tuple[str, str]]) -> str:  # noqa: ARG002
        return ""

    def close(self) -> None: ...
