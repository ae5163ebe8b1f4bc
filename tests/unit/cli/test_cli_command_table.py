"""The commands are one table; each is imported when it is called."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli.command_table import COMMANDS
from assay.cli.main import app


def test_the_help_lists_every_command_and_imports_none_of_them() -> None:
    code = "import sys; from assay.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: print(*sys.modules, file=sys.stderr)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in ended.stdout.partition("Commands:")[2].splitlines() if line.startswith("  ")]
    assert listed[: len(COMMANDS)] == [row.name for row in COMMANDS]
    imported = set(ended.stderr.split())
    assert not {row.target.partition(":")[0] for row in COMMANDS} & imported
    assert not {"assay.options.groups", "msgspec", "numpy"} & imported


@pytest.mark.parametrize("row", COMMANDS, ids=[row.name for row in COMMANDS])
def test_a_row_is_a_command_with_its_help(row: Any) -> None:
    group: Any = get_command(app)
    assert " ".join(group.commands[row.name].help.split()) == " ".join(row.help.split())


def test_an_unknown_command_proposes_one_that_is_near() -> None:
    ended = CliRunner().invoke(app, ["chekc"])
    assert ended.exit_code == 2
    assert "Did you mean 'check'" in ended.output
