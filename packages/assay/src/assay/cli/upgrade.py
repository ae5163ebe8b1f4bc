"""`assay upgrade`: may another release of a backend be deployed?"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import typer

from assay.cli.common import command_line, print_line, progress_bar
from assay.cli.from_options import from_options, read_options
from assay.options.upgrade import UpgradeOptions


@from_options(UpgradeOptions)
def upgrade(values: Mapping[str, Any]) -> None:
    from assay.commands.upgrade import run_upgrade
    from assay.triage.upgrade_text import lines

    options = read_options(UpgradeOptions, values, command=command_line(sys.argv[1:], UpgradeOptions))
    with progress_bar() as progress:
        upgraded = run_upgrade(options, progress, print_line)
    for text in lines(upgraded):
        print_line(text)
    raise typer.Exit(0 if upgraded.way == "go" else 1)
