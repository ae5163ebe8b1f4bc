"""What the commands share: options, the progress bar, the ending."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from assay.cli.from_options import read_options, shown
from assay.options.declaration import rows
from assay.options.groups import HistoryOptions, ReportOptions
from assay.reports.console_text import wrap

if TYPE_CHECKING:  # `assay --help` must not wait for numpy
    from assay.commands.progress import Activities
    from assay.pipeline.open_run import Checked
    from assay.pipeline.progress import Progress
    from assay.ports import Report

History = Annotated[str, shown(HistoryOptions, "history")]
Reports = Annotated[list[str] | None, shown(ReportOptions, "reports")]


NARROW = 80
"""Columns of a terminal that does not say how many it has."""
INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


@contextmanager
def progress_bar(hint: str = "", rest_s: float = 0.0) -> Iterator[Progress]:
    """A live line on a terminal that people look at, plain lines elsewhere, so far apart; Ctrl-C ends the command with a hint: this
    one, else how the run is gone on with that is in hand."""
    what_to_do = hint
    try:
        with _shown(rest_s) as progress:
            try:
                yield progress
            finally:
                what_to_do = hint or progress.what_to_do
    except KeyboardInterrupt:
        tell_line("; ".join(filter(None, ("assay: interrupted", what_to_do))))
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _shown(rest_s: float) -> Iterator[Activities]:
    from assay.commands.progress import lines, live

    if sys.stderr.isatty():
        with live() as progress:
            yield progress
    else:
        with lines(lambda text: print(text, file=sys.stderr, flush=True), rest_s) as progress:
            yield progress


def print_line(text: str) -> None:
    """On a terminal folded between words at its width, under its own indent; whole elsewhere, where another program may read it."""
    if sys.stdout.isatty():
        text = folded(text, shutil.get_terminal_size((100, 24)).columns)
    print(text, flush=True)


def tell_line(text: str) -> None:
    """The same on standard error, whose terminal need not be that of the standard output."""
    if sys.stderr.isatty():
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or NARROW
        except OSError:
            width = NARROW
        text = folded(text, width)
    print(text, file=sys.stderr, flush=True)


def folded(text: str, width: int) -> str:
    """Each line by itself. What has no space, or stands in backticks or quotes, is never torn apart: a command that does not fit has a
    line of its own, which the terminal wraps so that it can be copied."""
    return "\n".join(_folded_line(line, width) for line in text.split("\n"))


def _folded_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    indent = len(line) - len(line.lstrip())
    return "\n".join(wrap(line, width, " " * (indent + 2)))


def command_line(arguments: Sequence[str], options: type) -> str:
    """The line that repeats the run: without what a repeat must leave out, such as reports, which it would overwrite."""
    from assay.options.arguments import without

    return shlex.join(["assay", *without(options, arguments, {row.name for row in rows(options) if row.once})])


def read_reports(texts: Sequence[str] | None) -> tuple[tuple[str, Path], ...]:
    """What `--report` said, by which a command without other options calls for reports. Raises UsageError."""
    return read_options(ReportOptions, {"reports": texts}).reports


def finish(checked: Checked, reports: Sequence[str] = (), details: bool = False) -> None:
    """The table and the verdict on standard output; then leaves with the judgement's exit code."""
    from assay import plugins
    from assay.commands.reporting import GROUP

    screen = sys.stdout.isatty()
    terminal: Report = plugins.load(GROUP, "terminal")(colour=screen, wrapped=screen, details=details)
    print(terminal.render(checked.run, checked.results, checked.judgement), end="")
    for line in reports:
        print(line)
    leave(checked)


def leave(checked: Checked) -> NoReturn:
    """With what else is to be told on standard error, and the judgement's exit code."""
    for line in (*checked.notes, *checked.alerts):
        tell_line(line)
    raise typer.Exit(checked.judgement.exit_code)
