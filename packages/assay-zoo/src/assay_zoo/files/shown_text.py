"""Text that a reader is shown in another order than a program reads it (CVE-2021-42574, "Trojan Source")."""

from __future__ import annotations

import re

from assay_zoo.files.finding import Finding, Item

_LONGEST_BYTES = 16 << 20
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that embed or override a direction. Marks for words that are written from right to left are others."""
_ESCAPED = re.compile(r"\\u20(?:2[a-e]|6[6-9])", re.IGNORECASE)
_WRITTEN_ESCAPED = (".ipynb", ".json")


def text_problem(item: Item) -> Finding | None:
    """The first place. Nothing for what is no text."""
    with item.file.open("rb") as file:
        data = file.read(_LONGEST_BYTES)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    match = _TURNS.search(text) or (_ESCAPED.search(text) if item.suffix in _WRITTEN_ESCAPED else None)
    if match is None:
        return None
    mark = f"U+{ord(match[0]):04X}" if len(match[0]) == 1 else f"U+{match[0][2:].upper()}"
    told = f"has {mark}, which shows what follows in another order than it is read: write it without"
    return Finding(check="text", sentence=told, line=text.count("\n", 0, match.start()) + 1)
