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
_FLAGS = tuple(
    "\U0001f3f4" + "".join(chr(0xE0000 + ord(letter)) for letter in f"{part}\x7f")
    for part in ("gbeng", "gbsct", "gbwls")
)
_FLAG = re.compile("|".join(_FLAGS))
_BEGUN_FLAG = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{0,5}\\Z")
"""Those of England, Scotland and Wales, which are all that systems show (UTS 51, RGI_Emoji_Tag_Sequence)."""
_JOINED = "\u0590-\u1cff\u2600-\u27bf\ua800-\uabff\ufb1d-\ufdff\ufe0f\ufe70-\ufefc\U0001f000-\U0001faff"
_IDEOGRAPHS = "\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_IDLE = re.compile(
    f"(?<=[^{_JOINED}])[\u200b-\u200d\u2060\ufeff](?=[^{_JOINED}])|(?<=[^{_IDEOGRAPHS}])[\ufe00-\ufe0d\U000e0100-\U000e01ef](?=[\\s\\S])"
)
"""Such marks beside letters and pictures that they join or choose nothing of: one is left by copying, many kinds of them are a message."""
_IDLE_MOST, _IDLE_OF_ONE_KIND = 7, 63
_UNSEEN_IN_CODE = re.compile("\u200b")
_MOVES = re.compile("[\x08\x1b\x9b]")
"""Control characters by which a terminal moves back, and writes over what it has shown."""
_CODE, _WORDS = (".py", ".ipynb", ".toml"), (".md", ".rst")
_SHOWN = (*_CODE, *_WORDS, ".txt", ".csv", ".tsv", ".json", ".yaml", ".yml", "")
_WRITTEN_ESCAPED = (".ipynb", ".json")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|.)", re.DOTALL)
_BEGUN_ESCAPE = re.compile(r"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\+(?:u[0-9a-fA-F]{0,3})?)?\Z")
"""In JSON. A letter beyond 16 bits is two of them."""


_LONGEST_MARK = 8
"""A flag."""


def text_problem(item: Item) -> Finding | None:
    """The first place, wherever it is in the file. Nothing for what is no text."""
    marks = [_TURNS]
    marks += [_UNSEEN] if item.suffix in (*_CODE, *_WORDS) else []
    marks += [_UNSEEN_IN_CODE] if item.suffix in _CODE else []
    marks += [_MOVES] if item.suffix in _SHOWN else []
    finding: Finding | None = None
    idle = _Idle() if item.suffix in (*_CODE, *_WORDS) else None
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
            elif idle is not None:
                finding = finding or idle.look(whole, line, len(before))
            before = whole[-_LONGEST_MARK + 1 :]
            line += whole.count("\n") - before.count("\n")
    except UnicodeDecodeError:
        return None
    return finding


class _Idle:
    """Counts marks of a text that do nothing."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()
        self._count, self._first = 0, 0

    def look(self, text: str, line: int, known: int) -> Finding | None:
        """`known` letters at its beginning were looked at; a mark that was the last of them had no letter behind it, and did not count."""
        for mark in _IDLE.finditer(text, max(known - 1, 0)):
            self._kinds.add(mark[0])
            self._count += 1
            self._first = self._first or line + text.count("\n", 0, mark.start())
            if self._count > (_IDLE_MOST if len(self._kinds) > 1 else _IDLE_OF_ONE_KIND):
                return _finding(mark[0], self._first)
        return None


def _pieces(item: Item) -> Iterator[str]:
    """Text of the file, in UTF-16 where its mark says so; a character that is cut in two is whole in the next piece. Raises
    UnicodeDecodeError."""
    begun, is_escaped = "", item.suffix in _WRITTEN_ESCAPED
    with item.file.open("rb") as file:
        marks = codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE
        decoder = codecs.getincrementaldecoder("utf-16" if file.read(2) in marks else "utf-8")()
        file.seek(0)
        while data := file.read(_PIECE_BYTES):
            text = begun + decoder.decode(data)
            end = _BEGUN_ESCAPE.search(text[-12:]) if is_escaped else None
            begun = end[0] if end else ""
            text = text.removesuffix(begun)
            yield _unescaped(text) if is_escaped and "\\u" in text else text
    yield f"{begun}{decoder.decode(b'', final=True)}\n"


def _unescaped(text: str) -> str:
    """As a reader of JSON has it; what tells a binary file, and lines, are those of the file."""
    plain = _ESCAPE.sub(
        lambda escape: chr(int(escape[1], 16)) if escape[1] and int(escape[1], 16) > 31 else escape[0], text
    )
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _finding(mark: str, line: int) -> Finding:
    does = "shows what follows in another order than it is read" if _TURNS.match(mark) else "nobody sees"
    does = "makes a terminal write over what it has shown" if _MOVES.match(mark) else does
    sentence = f"has U+{ord(mark[0]):04X}, which {does}: write it without"
    return Finding(check="text", sentence=sentence, line=line)
