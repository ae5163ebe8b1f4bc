"""`docs/first-check.md` shows what its commands print: all words, and each number that no machine and no time decides."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from digits_checks import MODEL

from command_line import run_assay

PAGE = Path(__file__).parents[2] / "docs" / "first-check.md"
BLOCK = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ assay (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
DECIDED_ELSEWHERE = (
    (re.compile(r"\d{8}T\d{6}-[0-9a-f]{6}"), "RUN"),
    (re.compile(r"-{20,}"), "RULE"),  # as wide as the numbers of its table
    (re.compile(r"worst at \[\d+(, \d+)*\]"), "PLACE"),
    (re.compile(r"[-+]?\d+(\.\d+)*e[-+]\d+|[-+]?\d+(\.\d+)+|\d{5,}|\d+(?= kB)"), "NUMBER"),
)


def _shown() -> list[tuple[str, str]]:
    """(arguments, output) of each command of the page that is shown with its output."""
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    commands = [command for block in blocks for command in COMMAND.findall(block)]
    return [(arguments, output) for arguments, output in commands if output]


def _words(text: str) -> list[str]:
    """However wide the screen is."""
    for pattern, name in DECIDED_ELSEWHERE:
        text = pattern.sub(name, text)
    return text.split()


def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")  # with all columns that the page shows
    shutil.copy(MODEL, tmp_path / "digits.onnx")
    shown = _shown()
    assert [arguments.split()[0] for arguments, _ in shown] == ["check", "golden", "check", "check"]
    for arguments, output in shown:
        done = run_assay(*shlex.split(arguments), cwd=tmp_path)
        assert _words(done.stdout) == _words(output), f"`assay {arguments}` prints:\n{done.stdout}{done.stderr}"
