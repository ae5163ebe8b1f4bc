"""`assay mutate`: would the inputs of a model, or of a suite, notice a miscompilation? The kill rate, the survivors and why."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer

from assay.cli.common import command_line, progress_bar, tell_line
from assay.cli.from_options import from_options, read_options
from assay.options.declaration import option
from assay.options.mutate import MutateOptions


@dataclass(frozen=True, kw_only=True)
class MutateCommand(MutateOptions):
    """With what only a screen has."""

    killed: bool = option(False, "Also list the killed mutants.")


@from_options(MutateCommand)
def mutate(values: Mapping[str, Any]) -> None:
    from assay.commands.mutate import run_mutate
    from assay.commands.mutate_text import lines, verdict

    options = read_options(MutateCommand, values, command=command_line(sys.argv[1:], MutateCommand))
    with progress_bar() as progress:
        mutated, advice = run_mutate(options, progress)
    print("\n".join([*lines(mutated, options.killed), *advice]))
    for _, path in options.reports:
        print(f"report: {path}")
    print(f"run {mutated.checked.run.id}")
    print(verdict(mutated))
    for line in mutated.checked.alerts:
        tell_line(line)
    raise typer.Exit(mutated.checked.judgement.exit_code)
