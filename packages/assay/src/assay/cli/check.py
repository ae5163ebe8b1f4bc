"""`assay check`: models, flows and goldens in, a verdict out."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.cli.common import command_line, finish, progress_bar
from assay.cli.from_options import from_options, read_options
from assay.errors import UsageError
from assay.options.check import CheckOptions
from assay.options.declaration import option


@dataclass(frozen=True, kw_only=True)
class CheckCommand(CheckOptions):
    """With what only a screen has."""

    details: bool = option(False, "Show the values of every output, and its errors with quantiles.")


@from_options(CheckCommand)
def check(values: Mapping[str, Any]) -> None:
    from assay.launch.idle import IdleWorkers

    with progress_bar() as progress, IdleWorkers() as idle:
        # What takes the longest to import comes after the first line, and the first worker imports meanwhile.
        idle.start_numpy()
        from assay.commands.check import run_check

        _reject_values_of_flags(sys.argv[1:])
        options = read_options(CheckCommand, values, command=command_line(sys.argv[1:], CheckCommand))
        checked = run_check(options, progress, idle)
    finish(checked, [f"report: {path}" for _, path in options.reports], options.details)


def _reject_values_of_flags(arguments: Sequence[str]) -> None:
    """`--baseline last-week` reads like an option with its value, and names a model."""
    from assay.options.arguments import behind_flags

    for flag, word in behind_flags(CheckCommand, arguments):
        if not Path(word).suffix and ":" not in word and not Path(word).exists():
            more = "; --compare-run RUN names an earlier run" if flag == "--baseline" else ""
            raise UsageError(f"{flag} takes no value, and there is no model {word} here{more}")
