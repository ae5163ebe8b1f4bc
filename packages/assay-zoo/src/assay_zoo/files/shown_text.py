"""Text that a reader is shown in another order than a program reads it (CVE-2021-42574, "Trojan Source")."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from assay_zoo.files.finding import Finding, Item

_PIECE_BYTES = 1 << 20
_TURNS = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Characters that embed or override a direction. Marks for words that are written from right to left are others."""
_UNSEEN = re.compile(
    "[\u180e\u2060-\u2064\U000e0000-\U000e007f]|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}|[\u200b-\u200d\ufeff]{4}"
)
"""Characters that nobody sees: words in them are read by programs alone. Some have a use one at a time, beside a letter."""
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,6}\U000e007f")
_BEGUN_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{0,6}\\Z")
"""Of a country's part (UTS 51, ED-14a): its code has six letters at most."""
_UNSEEN_IN_CODE = re.compile("\u200b")
_CODE, _WORDS = (".py", ".ipynb", ".toml"), (".md", ".rst")
_ESCAPED = re.compile(r"\\u20(?:2[a-e]|6[6-9])", re.IGNORECASE)
_WRITTEN_ESCAPED = (".ipynb", ".json")


_LONGEST_MARK = 8
"""A flag."""


def text_problem(item: Item) -> Finding | None:
    """The first place, wherever it is in the file. Nothing for what is no text."""
    marks = [_TURNS, *([_ESCAPED] if item.suffix in _WRITTEN_ESCAPED else [])]
    marks += [_UNSEEN] if item.suffix in (*_CODE, *_WORDS) else []
    marks += [_UNSEEN_IN_CODE] if item.suffix in _CODE else []
    finding: Finding | None = None
    line, before = 1, ""
    try:
        for text in _pieces(item):
            if "\0" in text:
                return None
            whole = _FLAG.sub(lambda flag: "-" * len(flag[0]), before + text)
            seen = _BEGUN_FLAG.sub("", whole)
            match = None if finding else next(filter(None, (mark.search(seen) for mark in marks)), None)
            if match:
                finding = _finding(match[0], line + whole.count("\n", 0, match.start()))
            before = whole[-_LONGEST_MARK + 1 :]
            line += whole.count("\n") - before.count("\n")
    except UnicodeDecodeError:
        return None
    return finding


def _pieces(item: Item) -> Iterator[str]:
    """Text of the file; a character that is cut in two is whole in the next piece. Raises UnicodeDecodeError."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with item.file.open("rb") as file:
        while data := file.read(_PIECE_BYTES):
            yield decoder.decode(data)
    yield decoder.decode(b"", final=True) + "\n"


def _finding(mark: str, line: int) -> Finding:
    escaped = mark.startswith("\\")
    shown = f"U+{mark[2:].upper()}" if escaped else f"U+{ord(mark[0]):04X}"
    turns = escaped or _TURNS.match(mark)
    does = "shows what follows in another order than it is read" if turns else "nobody sees"
    sentence = f"has {shown}, which {does}: write it without"
    return Finding(check="text", sentence=sentence, line=line)
