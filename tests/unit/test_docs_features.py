"""docs/features.md: its count is that of its rows, and each command that it names is one that the command line takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from assay.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in (DOCS / "features.md").read_text().splitlines()
    if re.match(r"\| \d+ \|", line)
]
COMMANDS = [code for row in ROWS for code in re.findall(r"`(assay [^`]+)`", row[2])]


def test_the_page_counts_its_rows() -> None:
    whole, half = (sum(row[3] == state for row in ROWS) for state in ("whole", "half"))
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert whole + half == len(ROWS)
    assert f"{whole} are whole, {half} half" in (DOCS / "features.md").read_text()
    assert all(row[4] for row in ROWS if row[3] == "half"), "what is missing is said"


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_a_command_of_the_page_is_one_that_is_taken(command: str) -> None:
    """Read as the command line reads it, and not run."""
    name, *words = shlex.split(command)
    taken: Any = get_command(app)
    while hasattr(taken, "get_command"):
        name = words.pop(0)
        taken = taken.get_command(taken.context_class(taken), name)
        assert taken is not None, f"there is no command {name}"
    with taken.make_context(name, words) as context:
        assert not context.args
