"""What a notebook shows to its readers: words, code, stored outputs and what widgets keep."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from assay_zoo.artifacts.installs.settings_files import words_of
from assay_zoo.artifacts.pages.markup import active_html, active_markdown
from assay_zoo.artifacts.rights.restricted_use import rights_in_page

_IDLE = ("text/plain", "text/latex", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp")
"""Kinds of outputs that no browser runs."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_ANSWER = re.compile(
    r"""(?<![\w.])(["'])(?:[^"'\n\s]+ ?){1,4}(?<![.!])\1(?=\W)"""
    r"|^.*\b(?:predict(?:ed|ions?|s)|labels?|classes|class|true|target|expected|actual)\b[^:=\n]{0,20}[:=](?:[ \t]*\S+){0,6}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""What a model answers may be any words: a few of them in quotes, as Python shows a text, or behind a name for an answer."""


def active_in_notebook(text: str) -> Iterator[tuple[int, str]]:
    """Cells of words, stored outputs and what widgets keep, which a reader's browser shows."""
    try:
        whole = json.loads(text)
        cells = whole["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return  # the checks of files say where
    if isinstance(whole.get("metadata"), dict) and whole["metadata"].get("widgets"):
        yield 0, "widgets with a state of their own"
    for cell in cells if isinstance(cells, list) else []:
        if not isinstance(cell, dict):
            continue
        if cell.get("cell_type") in ("markdown", "raw"):
            yield from ((0, problem) for _, problem in active_markdown(_joined(cell.get("source", ""))))
        shown = [*_tables(cell.get("attachments")), *(table.get("data") for table in _tables(cell.get("outputs")))]
        for data in shown:
            for kind, value in data.items() if isinstance(data, dict) else []:
                yield from _shown(str(kind).lower(), value)


def _shown(kind: str, value: object) -> Iterator[tuple[int, str]]:
    """One form of what a cell shows: text and pictures of points do nothing."""
    if kind in ("text/html", "image/svg+xml"):
        yield from ((0, problem) for _, problem in active_html(_joined(value)))
    elif kind == "text/markdown":
        yield from ((0, problem) for _, problem in active_markdown(_joined(value)))
    elif kind not in _IDLE:
        yield 0, f"a stored output of the kind {kind[:40]}"


def rights_in_notebook(text: str) -> Iterator[tuple[int, str, bool]]:
    """Of words, and of comments and strings in code."""
    for kind in ("markdown", "raw", "code"):
        for cell in sources_of_cells(text, kind):
            yield from ((0, words, less) for _, words, less in rights_in_page(cell, code=kind == "code"))
    for code_cell in _cells_of(text, "code"):
        for output in _tables(code_cell.get("outputs")):
            for shown in dict.fromkeys(_words_shown(output)):
                yield from ((0, words, less) for _, words, less in rights_in_page(_ANSWER.sub("", shown)))


def _words_shown(output: dict[str, Any]) -> Iterator[str]:
    """All that a reader may read of one output, in whatever form: what is printed, what is shown, what an exception says."""
    yield _joined(output.get("text", ""))
    yield _COLOUR.sub("", "\n".join(_joined(output.get(key, "")) for key in ("evalue", "traceback")))
    data = output.get("data")
    for kind, value in data.items() if isinstance(data, dict) else ():
        if str(kind).endswith("json"):
            yield words_of(".json", json.dumps(value))
        elif not str(kind).startswith("image/") or str(kind).endswith("xml"):
            yield _joined(value)


def _cells_of(text: str, kind: str) -> list[dict[str, Any]]:
    """Of a notebook."""
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
    return [cell for cell in _tables(cells) if cell.get("cell_type") == kind]


def sources_of_cells(text: str, kind: str) -> list[str]:
    return [_joined(cell.get("source", "")) for cell in _cells_of(text, kind)]


def _tables(value: object) -> list[dict[str, Any]]:
    entries = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [table for table in entries if isinstance(table, dict)]


def _joined(value: object) -> str:
    return value if isinstance(value, str) else "".join(map(str, value)) if isinstance(value, list) else ""
