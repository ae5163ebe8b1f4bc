"""Rows of tables as sentences: each cell behind the first one of its row and the title of its column, as a reader puts them together."""

from __future__ import annotations

import re
from collections.abc import Iterator

_INDENT = re.compile(r"^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?=.*\|)")
_RULE = re.compile(r"\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?")
_ROW = re.compile(r"<tr\b[^>]*>(.*?)(?:</tr\s*>|(?=<tr\b)|\Z)", re.DOTALL | re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b[^>]*>(.*?)(?=</?t[dhr]\b|\Z)", re.DOTALL | re.IGNORECASE)
_BARS = re.compile(r"(?<!\\)\|")


def table_rows(text: str) -> Iterator[tuple[int, str]]:
    """(line, sentence), of tables of Markdown, in lists and quotations too, and of HTML."""
    titles: list[str] = []
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        row = _INDENT.sub("", line).strip() if "|" in line else ""
        if row and _RULE.fullmatch(row):
            titles = _cells(before)
        elif row and titles:
            yield from ((number, sentence) for sentence in _sentences(titles, _cells(row)))
        before, titles = row, titles if row else []
    titles = []
    for match in _ROW.finditer(text) if "<tr" in text.lower() else ():
        cells = [re.sub(r"<[^>]*>", " ", cell) for cell in _CELL.findall(match[1])]
        at = text.count("\n", 0, match.start()) + 1
        yield from ((at, sentence) for sentence in _sentences(titles, cells))
        titles = titles or cells


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BARS.split(row.strip().strip("|"))]


def _sentences(titles: list[str], cells: list[str]) -> Iterator[str]:
    named = titles + [""] * len(cells)
    for title, cell in zip(named[1:], cells[1:], strict=False):
        yield " ".join(f"{cells[0]} {title}: {cell}".split())
