"""Letters that are taken for others: of another alphabet within a word, or dressed up (Unicode Technical Standard 39)."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_OTHERS = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Alphabets with letters that look like Latin ones. Others stand beside Latin letters in many a name."""


def odd_word(text: str, *, science: bool = False) -> str:
    """The first word whose letters are of two alphabets that look alike, or are Latin ones in another dress, "" for none. With `science`
    a Greek letter may stand in a word, as in a unit or the name of a method."""
    for word in _WORD.findall(text):
        scripts = {_script(letter) for letter in word}
        others = scripts & set(_OTHERS) - ({"GREEK"} if science else set())
        if (others and "LATIN" in scripts) or any(map(_dressed, word)):
            return str(word)
    return ""


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _dressed(letter: str) -> bool:
    """A Latin letter among the signs of mathematics, or of full width."""
    plain = unicodedata.normalize("NFKC", letter)
    cased = unicodedata.category(letter) in ("Lu", "Ll")
    return cased and not letter.isascii() and plain.isascii() and len(plain) == 1
