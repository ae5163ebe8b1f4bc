"""Words of the template that nobody replaced: a title for people, your name, TODO."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assay_zoo.zoo_files import METADATA

_TEXTS = (
    "title", "description", "use_cases", "source", "references", "contributors", "inputs.description", "outputs.description",
    "dataset.name", "dataset.source", "dataset.preparation",
)  # fmt: skip
"""Of metadata.toml: what a person writes. Names of files and of the scenario may well stay as they are."""
_PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|\blorem ipsum\b|<(?:your|insert|name of|fill)[^>]*>|\bfill (?:me|this) in\b|\bchange me\b",
    re.IGNORECASE,
)


_SAYING = (
    "title", "description", "use_cases", "source", "references", "contributors", "dataset.name", "dataset.source", "dataset.license",
)  # fmt: skip
_NOTHING = re.compile(r"\W*(?:n\W?a|null|unknown|various|x+)?\W*", re.IGNORECASE)
"""Words for nothing, where something is asked for; that there is none may be true."""


def left_in_metadata(root: Path, metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, text) for each text that the template wrote, of this zoo or of Assay, or that only holds a place."""
    known = _known(root / "templates" / "submission" / METADATA)
    for key, text in _flat(metadata):
        empty = key in _SAYING and _NOTHING.fullmatch(text)
        if empty or (key in _TEXTS and ((key, text.casefold()) in known or _PLACEHOLDER.search(text))):
            yield key, text


def left_in_text(text: str, root: Path) -> list[tuple[int, str]]:
    """(line, words) in a readme."""
    known = {
        words for key, words in _known(root / "templates" / "submission" / METADATA) if key in _TEXTS and " " in words
    }
    lines: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        plain = " ".join(line.split())
        lines += [
            (number, words) for words in sorted(known) if words in plain.casefold() and len(words) > len(plain) / 2
        ]
        if match := _PLACEHOLDER.search(line):
            lines.append((number, match[0]))
    return lines


def _known(own: Path) -> frozenset[tuple[str, str]]:
    shipped = (files("assay_zoo") / "data" / "zoo" / "templates" / "submission" / METADATA).read_text(encoding="utf-8")
    try:
        here = own.read_text(encoding="utf-8") if own.is_file() else ""
    except (OSError, UnicodeDecodeError):
        here = ""
    return _texts_of(shipped) | _texts_of(here)


@cache
def _texts_of(template: str) -> frozenset[tuple[str, str]]:
    try:
        return frozenset((key, text.casefold()) for key, text in _flat(tomllib.loads(template)))
    except tomllib.TOMLDecodeError:
        return frozenset()


def _flat(table: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    """Every text by its dotted key; places in a list do not count."""
    for key, value in table.items():
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, Mapping):
                yield from _flat(item, f"{above}{key}.")
            elif isinstance(item, str) and item:
                yield f"{above}{key}", item
