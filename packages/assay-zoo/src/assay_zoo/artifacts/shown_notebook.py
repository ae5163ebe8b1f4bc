"""What a notebook shows to its readers: words, code, stored outputs and what widgets keep."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from assay_zoo.artifacts.markup import active_html, active_markdown
from assay_zoo.artifacts.restricted_use import rights_in_page

_IDLE = ("text/plain", "text/latex", "application/json", "image/png", "image/jpeg", "image/gif", "image/webp")
"""Kinds of outputs that no browser runs."""


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
            data = output.get("data")
            shown = _joined(output.get("text") or (data.get("text/plain") if isinstance(data, dict) else ""))
            yield from ((0, words, less) for _, words, less in rights_in_page(shown))


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
