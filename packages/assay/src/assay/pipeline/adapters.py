"""The adapters of one invocation, chosen by a face and handed to the pipeline."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from assay.core.environment import Interpreter
from assay.core.flow import Flow
from assay.core.result import Result
from assay.core.run import Run
from assay.options.groups import DEFAULT_HISTORY
from assay.pipeline.job_graph import JobGraph
from assay.pipeline.kept_files.shared_files import SharedFiles
from assay.pipeline.progress import SILENT, Progress
from assay.plugins import availability
from assay.ports import Availability, Store


class RunJournal(Protocol):
    """Results of one run as they happen, safe against the death of the driver."""

    def append(self, result: Result) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Services:
    """`history` is as a user names it, and `on` is what a later command needs in --on to run where this
    one does; `folder` is the
    history's: oracle/, scratch/, journal/ lie below it. All jobs are asked of `jobs`.

    `files` shares folders of it with other machines.

    `available` asks the environment that a flow names, `interpreter` is its Python; `gpus` are those of this machine, in words.
    `evaluated_s` are the seconds that the first oracle took for reference answers that were computed here, by their folder (infinite:
    more than it had).
    """

    folder: Path
    store: Store
    jobs: JobGraph
    open_journal: Callable[[Path, Run], RunJournal]
    read_journal: Callable[[Path], tuple[Run | None, list[Result]]]
    journal_held: Callable[[Path], bool]
    progress: Progress = SILENT
    available: Callable[[Flow], Availability] = lambda flow: availability(flow.backend)
    gpus: tuple[str, ...] = ()
    interpreter: Callable[[str], Interpreter] = lambda environment: Interpreter(sys.executable)
    files: SharedFiles = field(default_factory=SharedFiles)
    evaluated_s: dict[str, float] = field(default_factory=dict)
    history: str = DEFAULT_HISTORY
    on: str = ""

    def journal_path(self, run_id: str) -> Path:
        """Where the journal of a run lies until the run is closed."""
        return self.folder / "journal" / f"{run_id}.journal"

    def standing(self, run_id: str, status: str) -> str:
        """`status` as recorded, but "interrupted" for a run whose driver was killed before it could say so: its journal is
        here, and nobody holds it. Of a run on another machine nothing more is known than its status."""
        journal = self.journal_path(run_id)
        gone = status == "running" and journal.is_file() and not self.journal_held(journal)
        return "interrupted" if gone else status

    def scratch(self, run_id: str) -> Path:
        """Where the workers of a run may write; gone when the run ends."""
        return (self.folder / "scratch" / run_id).absolute()
