"""What the commands share: options, the progress bar, the ending."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # `assay --help` must not wait for numpy
    from assay.pipeline.check import Checked
    from assay.pipeline.progress import Progress
    from assay.ports import Report

History = Annotated[
    str,
    typer.Option(
        "--history", metavar="FOLDER", help="Where runs are recorded: a folder, or a postgresql+psycopg:// URL."
    ),
]
REPORTS = "html, json, junit, markdown, csv, per-node, terminal; of suites suite-csv, suite-markdown, matrix, operators"
"""Ours, for the help: a plug-in may bring others."""
Reports = Annotated[
    list[str] | None,
    typer.Option(
        "--report",
        metavar="NAME=FILE",
        help=f"Write a report: {REPORTS}. Repeatable.",
    ),
]


INTERRUPTED = 130
"""What a shell expects of a program that Ctrl-C ended."""


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A live line on a terminal that people look at, plain lines elsewhere; Ctrl-C ends the command with a hint."""
    try:
        with _shown() as progress:
            yield progress
    except KeyboardInterrupt:
        print("assay: interrupted; `assay runs` shows the run, `assay resume RUN` goes on with it", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def _shown() -> Iterator[Progress]:
    from assay.commands.progress import lines, live

    if sys.stderr.isatty():
        with live() as progress:
            yield progress
    else:
        with lines(lambda text: print(text, file=sys.stderr, flush=True)) as progress:
            yield progress


_ONCE = ("--report", "--only", "--save", "--save-inputs", "--save-outputs")
"""Options with a value that a repeat leaves out: it must not overwrite what they wrote."""


def command_line(arguments: Sequence[str]) -> str:
    """The line that repeats the run: without its reports, which a repeat must not overwrite, and without --only."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _ONCE:
            next(words, None)
        elif not word.startswith(tuple(f"{name}=" for name in _ONCE)):
            kept.append(word)
    return shlex.join(["assay", *kept])


def finish(checked: Checked, reports: Sequence[str] = (), details: bool = False) -> None:
    """The table and the verdict on standard output; then leaves with the judgement's exit code."""
    from assay import plugins
    from assay.commands.reporting import GROUP

    screen = sys.stdout.isatty()
    terminal: Report = plugins.load(GROUP, "terminal")(colour=screen, wrapped=screen, details=details)
    print(terminal.render(checked.run, checked.results, checked.judgement), end="")
    for line in reports:
        print(line)
    raise typer.Exit(checked.judgement.exit_code)
