"""Lines and sentences on the screen; commands in them stay whole: they are there to be copied."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

_QUOTED = "|".join(rf"{mark}[^{mark}`]+{mark}(?!\w)\S*" for mark in ("'", '"'))
_WORD = re.compile(rf"[^\s`]*`[^`]+`\S*|(?:[^\s`]*[=(\[:])?(?:{_QUOTED})|\S+")
"""Also with the spaces of a command, or of a path in quotes."""
_COMMAND = re.compile(r"`(\S+ \S+ [^`]+)`([;,.]?)")
"""What takes arguments: shorter ones stay in their sentence."""


def print_line(console: Console, *parts: str | tuple[str, str]) -> None:
    """One line, however long, of texts and of texts with their styles. Rich takes half a millisecond for each, and without
    colour it has nothing to do."""
    if console.color_system is None:
        console.file.write("".join(part if isinstance(part, str) else part[0] for part in parts) + "\n")
        return
    from rich.text import Text

    console.print(Text.assemble(*parts), soft_wrap=True)


def print_prose(console: Console, text: str, word: str = "", style: str = "") -> None:
    """A sentence behind a word that has a style: one line, or lines of the screen's width, all but the first set in."""
    lines = [text]
    if not console.soft_wrap:
        deep = "  " if text.startswith(" ") else ""
        lines = wrap(f"{word}{text}", console.width, f"{deep}  ")
        lines[0] = lines[0].removeprefix(word)
    print_line(console, (word, style), lines[0])
    for line in lines[1:]:
        print_line(console, line)


def print_plain(console: Console, lines: Sequence[str]) -> None:
    """Each set in."""
    for line in lines:
        print_line(console, f"  {line}")


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Lines of at most `width`, all but the first behind `indent`. What stands in backticks or quotes is never broken: a command
    that does not fit on its line has one of its own, however long, without the backticks and without what ends its clause."""
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
