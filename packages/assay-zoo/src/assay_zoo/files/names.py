"""Names that are not the same thing everywhere: reserved by a file system, hidden from who looks, or one with another's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])(?:\..*)?", re.IGNORECASE
)
_REFUSED = re.compile(r'[<>:"|?*\\]|[. ]$|^git~[0-9]+$', re.IGNORECASE)
"""A short name of Windows stands for .git there."""
_OF_SHELL = re.compile(r"[`\n\r]|\$[({\w]|^~")
_RUN = (".py", ".ipynb", ".onnx")
"""What is called by its name."""
_HARMLESS = (".gitkeep", ".gitignore")


def name_problems(paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(path, what is wrong with it)."""
    seen: dict[str, str] = {}
    for path in paths:
        parts = path.split("/")
        for place in ("/".join(parts[:end]) for end in range(1, len(parts) + 1)):
            first = seen.setdefault(unicodedata.normalize("NFC", place).casefold(), place)
            if first != place:
                yield path, f"{place} and {first} are one on systems that ignore case: rename one of them"
                break
        if path.endswith(_RUN) and not path.isascii():
            yield path, f"{path} has letters beyond ASCII, which are easily taken for others: rename it"
        for part in parts:
            if problem := _problem(part):
                yield path, f"{path} {problem}"
                break


def _problem(part: str) -> str:
    if _RESERVED.fullmatch(part) or _REFUSED.search(part):
        return f"cannot lie on Windows, which has another use for {part!r}: rename it"
    if part.startswith("-") or _OF_SHELL.search(part):
        return f"has a name that a shell takes for an option or a command ({part!r}): rename it"
    if part.startswith(".") and part not in _HARMLESS:
        return f"is hidden, and {part!r} is a setting of a tool and no part of a model: leave it out"
    return ""
