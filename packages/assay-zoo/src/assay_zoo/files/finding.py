"""What is wrong with one file: the name of the check that finds it, a sentence, and the line."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """`sentence` goes on after the file's name: "is a pickle ..."; `line` counts from 1, 0 for none; `needs` is the file of
    the submission that is missed, "" for none: a path as the model names it, which may be any. What is not
    `certain` is for a person to decide."""

    check: str
    sentence: str
    line: int = 0
    needs: str = ""
    certain: bool = True


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One file to open: where our copy lies, what it is called in the submission, and how much it may unfold to."""

    copy: str
    path: str
    model: bool = False
    unfolded_bytes: int = 0

    @property
    def file(self) -> Path:
        return Path(self.copy)

    @property
    def suffix(self) -> str:
        """In lower case, with its dot."""
        return Path(self.path).suffix.lower()
