"""`python -m assay_zoo.accuracy.notebook SUBMISSION NOTEBOOK OUT [FILE]`: execute one notebook. Runs inside the sandbox.

The submission is copied, the notebook's stored outputs are thrown away, and its cells are run in the copy. `OUT/report.json`
says, after each cell again, what was printed and what went wrong; `OUT/metric.json` is a copy of FILE, if the notebook made
one: what the submission brought under that name is removed before. Exit code 3: the notebook failed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import sys
from collections.abc import Sequence
from importlib.machinery import BYTECODE_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import Any

import msgspec

from assay_zoo.accuracy.notebook_report import METRIC, METRIC_BYTES, REPORT, CellLines, Printed, Report, Trouble

LINKED_BYTES = 64 * 1024 * 1024
"""Larger files of a submission are linked to instead of copied: the copy lies in memory."""
TEXT = 32 * 1024
"""Characters kept of what one cell printed: the last."""
_CODE = (*SOURCE_SUFFIXES, *BYTECODE_SUFFIXES, ".so", ".pth", ".ipynb")
_MOST_WRITTEN = 20
_ANY_TIME_S = 1_000_000
"""For the kernel to start: the sandbox ends what takes too long, and knows how much of it others had the cores."""


def main() -> int:
    submission, notebook, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    wanted = sys.argv[4] if len(sys.argv) > 4 else ""
    place = Path("/tmp/submission")
    _copy(submission, place)
    if wanted:
        (place / wanted).unlink(missing_ok=True)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # so that Python itself writes no code
    before = code_files(place)
    report = _execute(place / notebook, out)
    if written := sorted(path for path, data in code_files(place).items() if before.get(path) != data):
        report = _written(msgspec.structs.replace(report, written=tuple(written[:_MOST_WRITTEN])), out)
    metric_file = place / wanted
    if wanted and metric_file.is_file() and not metric_file.is_symlink() and metric_file.stat().st_size <= METRIC_BYTES:
        shutil.copyfile(metric_file, out / METRIC)
    return 3 if report.trouble else 0


def code_files(place: Path) -> dict[str, str]:
    """Every file that Python would run, by its path, with its digest."""
    files = (path for path in place.rglob("*") if path.suffix in _CODE)
    plain = (file for file in files if file.is_symlink() or file.is_file())
    return {str(path.relative_to(place)): _digest(path) for path in plain}


def _digest(path: Path) -> str:
    if path.is_symlink():
        return f"to {path.readlink()}"
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _execute(path: Path, out: Path) -> Report:
    """Every code cell in its order, until one fails."""
    import nbformat

    text = path.read_text(encoding="utf-8")
    try:
        notebook = nbformat.reads(text, as_version=4)
        if not isinstance(notebook.get("cells"), list):
            raise ValueError("it has no cells")
    except Exception as error:  # noqa: BLE001 - whatever nbformat makes of a third party's file
        return _written(Report(trouble=Trouble(kind="", sentence=f"it cannot be read as a notebook: {error}")), out)
    cells = _Cells(notebook, _first_lines(text, notebook.cells), out)
    trouble = _trouble(cells, path.parent)
    return _written(Report(printed=tuple(cells.printed), trouble=trouble), out)


class _Cells:
    """The code cells of a notebook, and what they have printed so far."""

    def __init__(self, notebook: Any, lines: Sequence[int], out: Path) -> None:
        self.notebook, self._lines, self._out = notebook, lines, out
        self.printed: list[Printed] = []
        self.running = Trouble(kind="start", sentence="the kernel did not start")
        self._code = [(at, cell) for at, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        self._stored = [_text(cell.get("outputs", [])) for _, cell in self._code]
        for _, cell in self._code:
            cell.outputs, cell.execution_count = [], None

    def say_running(self) -> None:
        """What is left to be read where the sandbox ends it now."""
        _written(Report(printed=tuple(self.printed), trouble=self.running), self._out)

    def run(self, client: Any) -> Trouble | None:
        """All of them, one after the other."""
        for number, ((at, cell), stored) in enumerate(zip(self._code, self._stored, strict=True), 1):
            self.running = Trouble(kind="running", cell=number, line=self._lines[at])
            self.say_running()
            client.execute_cell(cell, at)
            self.printed.append(Printed(cell=number, line=self._lines[at], text=_text(cell.outputs), stored=stored))
            cell.outputs = []
        return None if self._code else Trouble(kind="empty", sentence="it has no cell of code")


def _trouble(cells: _Cells, folder: Path) -> Trouble | None:
    """How running them ended; None where nothing is wrong."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    client = NotebookClient(
        cells.notebook, timeout=None, startup_timeout=_ANY_TIME_S, kernel_name="python3",
        resources={"metadata": {"path": str(folder)}}, extra_arguments=["--no-automagic"],
    )  # fmt: skip
    process: Any = None
    cells.say_running()
    try:
        with client.setup_kernel():
            process = getattr(getattr(client.km, "provisioner", None), "process", None)
            return cells.run(client)
    except CellExecutionError as error:
        sentence = f"{error.ename}: {_one_line(error.evalue)}" if error.evalue else str(error.ename)
        return msgspec.structs.replace(cells.running, kind="exception", sentence=sentence)
    except DeadKernelError:
        return msgspec.structs.replace(cells.running, kind="dead", sentence=f"the kernel died{_cause(process)}")
    except Exception as error:  # noqa: BLE001 - the kernel is untrusted, and may answer anything
        sentence = f"{type(error).__name__}: {_one_line(str(error))}"
        kind = "start" if cells.running.kind == "start" else "protocol"  # on a busy machine it may be too late
        return msgspec.structs.replace(cells.running, kind=kind, sentence=sentence)


def _written(report: Report, out: Path) -> Report:
    fresh = out / f".{REPORT}"
    fresh.write_bytes(msgspec.json.encode(report))
    fresh.replace(out / REPORT)
    return report


def _text(outputs: list[Any]) -> str:
    """What a cell wrote to standard output, and the plain text of what it showed."""
    parts = []
    for output in outputs:
        if output.output_type == "stream" and output.name == "stdout":
            parts.append(output.text)
        elif output.output_type == "error":
            parts.append(f"{output.get('ename', '')}: {output.get('evalue', '')}\n")
        elif output.output_type in ("execute_result", "display_data"):
            parts.append(f"{output.data.get('text/plain', '')}\n")
    return "".join(parts)[-TEXT:]


def _cause(process: Any) -> str:
    """The signal that killed the kernel."""
    code = process.poll() if process is not None else None
    if code is None or code >= 0:
        return "" if code is None else f" (exit code {code})"
    try:
        return f" ({signal.Signals(-code).name})"
    except ValueError:
        return f" (signal {-code})"


def _first_lines(text: str, cells: list[Any]) -> list[int]:
    """Where the first line of each cell stands in the file, from 1."""
    lines = CellLines(text)
    return [lines.of(next((line for line in str(cell.source).split("\n") if line.strip()), "")) for cell in cells]


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


def _copy(source: Path, target: Path) -> None:
    """Folders and files as our own, so that they can be written; the large ones as links to what is read-only."""
    target.mkdir()
    for path in sorted(source.rglob("*")):
        mine, status = target / path.relative_to(source), path.lstat()
        if stat.S_ISDIR(status.st_mode):
            mine.mkdir(exist_ok=True)
        elif stat.S_ISREG(status.st_mode) and status.st_size > LINKED_BYTES:
            mine.symlink_to(path)
        elif stat.S_ISREG(status.st_mode):
            shutil.copyfile(path, mine)


if __name__ == "__main__":
    sys.exit(main())
