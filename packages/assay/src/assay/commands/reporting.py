"""Reports asked for on a command line: resolved and tried before the run, written after it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import plugins
from assay.errors import HarnessError, NotWritable
from assay.pipeline.open_run import Checked
from assay.ports import Report

GROUP = "assay.reports"


@dataclass(frozen=True)
class Destination:
    """One report and the file it goes to."""

    report: Report
    path: Path

    def write(self, checked: Checked) -> None:
        """Whole or not at all. Raises HarnessError: the run is over, and was recorded before."""
        text = self.report.render(checked.run, checked.results, checked.judgement)
        try:
            if self.path.exists() and not self.path.is_file():  # a pipe or a device is written, never replaced
                self.path.write_text(text, encoding="utf-8")
                return
            _replace(self.path, text)
        except OSError as error:
            raise HarnessError(
                f"{self.path} cannot be written ({error.strerror}), but the run is recorded, with its verdict: "
                f"assay report {checked.run.id} shows it, and writes reports again"
            ) from None


def destinations(targets: Sequence[tuple[str, Path]]) -> list[Destination]:
    """Of (name of the report, file). Raises UsageError now, not after an hour's run."""
    return [_destination(name, path) for name, path in targets]


def _destination(name: str, path: Path) -> Destination:
    report: Report = plugins.load(GROUP, name)()
    if path.is_dir():
        raise NotWritable(f"{path} is a folder; give the report {name!r} a file name")
    try_to_write(path)
    return Destination(report, path)


def try_to_write(path: Path) -> None:
    """Before a run, what it is to write afterwards. Raises NotWritable."""
    if path.is_dir():
        raise NotWritable(f"{path} is a folder; give the name of a file")
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise _unwritable(path, error) from None
    if path.exists() and not os.access(path, os.W_OK):
        raise NotWritable(f"{path} exists and cannot be written; give another file")


def _replace(path: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.chmod(file.name, 0o666 & ~_umask())
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink()
            raise


def _unwritable(path: Path, error: OSError) -> NotWritable:
    return NotWritable(f"{path} cannot be written ({error.strerror}); give another file")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
