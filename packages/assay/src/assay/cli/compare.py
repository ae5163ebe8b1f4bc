"""`assay compare`: two engines side by side, and whether the new one is slower."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from assay.cli.common import command_line, finish, progress_bar
from assay.cli.from_options import from_options, read_options
from assay.options.compare import CompareOptions


@from_options(CompareOptions)
def compare(values: Mapping[str, Any]) -> None:
    from assay.commands.compare import run_compare

    options = read_options(CompareOptions, values, command=command_line(sys.argv[1:], CompareOptions))
    with progress_bar() as progress:
        checked = run_compare(options, progress)
    finish(checked, [f"report: {path}" for _, path in options.reports])
