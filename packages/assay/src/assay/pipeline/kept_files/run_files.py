"""The files of a run that other machines need, too: references before it, and after it logs, traces and engines that may be approved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from assay.core.job_base import InputsJob
from assay.core.result import MeasureResult, Result
from assay.core.run import Run
from assay.errors import HarnessError
from assay.pipeline.adapters import Services

OF_RUN = ("logs", "traces", "candidates")
"""Folders below the history with a folder for each run."""
SHOWN = ("logs", "traces")
"""Those that a report has links to."""


def bring_references(run: Run, services: Services) -> None:
    """What another machine has computed. What is damaged, or missing, is computed here again."""
    if services.files:
        services.files.bring_if_whole(*_references(run, services))


def share_run(run: Run, services: Services) -> tuple[str, ...]:
    """Keep what the run left. The run is recorded and judged: where the store cannot be used, a line says so, and its verdict stands."""
    if not services.files:
        return ()
    names = [*_references(run, services), *(f"{kind}/{run.id}" for kind in OF_RUN)]
    try:
        services.files.keep(*names)
    except HarnessError as error:
        return (
            f"files of this run are on this machine alone, its verdict stands ({error}); `assay store push` sends them",
        )
    return ()


def with_files(run: Run, results: Sequence[Result], services: Services) -> list[Result]:
    """The results with paths of this machine, where another one wrote the files."""
    services.files.bring(*(f"{kind}/{run.id}" for kind in SHOWN))
    return [_here(result, services.folder) for result in results] if services.files else list(results)


def _references(run: Run, services: Services) -> list[str]:
    folders = {job.reference_dir for job in run.jobs if isinstance(job, InputsJob) and job.reference_dir}
    root = services.folder.absolute()
    return sorted(services.files.name_of(folder) for folder in folders if Path(folder).is_relative_to(root / "oracle"))


def _here(result: Result, folder: Path) -> Result:
    if result.log_file:
        result = msgspec.structs.replace(result, log_file=_moved(result.log_file, folder))
    if isinstance(result, MeasureResult) and result.traces:
        result = msgspec.structs.replace(result, traces=tuple(_moved(trace, folder) for trace in result.traces))
    return result


def _moved(path: str, folder: Path) -> str:
    """Where that file lies on this machine; as it is where it is not here."""
    if Path(path).exists():
        return path
    parts = Path(path).parts
    for at, part in enumerate(parts):
        if part in SHOWN and (here := folder.joinpath(*parts[at:])).is_file():
            return str(here)
    return path
