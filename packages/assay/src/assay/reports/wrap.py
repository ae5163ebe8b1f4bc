"""Sentences broken between words for a screen, with their commands whole: they are there to be copied."""

from __future__ import annotations

import re

_WORD = re.compile(r"[^\s`]*`[^`]+`\S*|\S+")
_COMMAND = re.compile(r"`(\S+ \S+ [^`]+)`([;,.]?)")
"""What takes arguments: shorter ones stay in their sentence."""


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width`, all but the first behind `indent`. What stands in backticks is never broken: a command that does not
    fit on its line has one of its own, however long, without the backticks and without what ends its clause."""
    lines = [text[: len(text) - len(text.lstrip())]]
    full = False
    for word in _WORD.findall(text):
        gap = " " if lines[-1].strip() else ""
        if not full and (len(lines[-1]) + len(gap) + len(word) <= width or not gap):
            lines[-1] += gap + word
            continue
        command = _COMMAND.fullmatch(word)
        lines.append(indent + (command[1] if command else word))
        full = command is not None
    return lines
