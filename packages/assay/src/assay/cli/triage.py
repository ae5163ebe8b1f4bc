"""`assay triage`: from a red verdict to its cause."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import typer

from assay.cli.common import command_line, print_line, progress_bar
from assay.cli.from_options import from_options, read_options
from assay.options.triage import TriageOptions


@from_options(TriageOptions)
def triage(values: Mapping[str, Any]) -> None:
    from assay.commands.triage import run_triage
    from assay.triage.triage_text import lines

    options = read_options(TriageOptions, values, command=command_line(sys.argv[1:], TriageOptions))
    with progress_bar() as progress:
        triaged = run_triage(options, progress, print_line)
    for cause in triaged.causes:
        for text in (*lines(cause), f"  page: {cause.folder}/cause.html"):
            print_line(text)
    for text in triaged.left:
        print_line(text)
    raise typer.Exit(triaged.exit_code)
