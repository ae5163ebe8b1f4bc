"""A row of a table in the docs stands below its header: behind an empty line the site shows it as plain text."""

from __future__ import annotations

import re

from test_docs_paths import PAGES

_RULE = re.compile(r"\|[\s:|-]+\|?")


def _torn_off(text: str) -> list[str]:
    lines = re.sub(r"(?ms)^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text).split("\n")
    firsts = [
        at for at, line in enumerate(lines) if line.startswith("|") and not (at and lines[at - 1].startswith("|"))
    ]
    return [lines[at][:80] for at in firsts if not _RULE.fullmatch(lines[at + 1] if at + 1 < len(lines) else "")]


def test_each_row_is_part_of_a_table() -> None:
    torn_off = {page.name: rows for page in PAGES if (rows := _torn_off(page.read_text()))}
    assert torn_off == {}


def test_a_row_behind_an_empty_line_is_named() -> None:
    assert _torn_off("| a |\n|---|\n| 1 |\n\n| 2 |\n") == ["| 2 |"]
