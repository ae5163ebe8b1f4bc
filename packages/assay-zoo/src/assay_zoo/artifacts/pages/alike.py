"""Letters that are taken for others: of another alphabet within a word, or dressed up (Unicode Technical Standard 39)."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W\d_]+")
_LETTER = re.compile(r"(\w+) (?:\w+ )*?(?:LETTER|SYLLABLE|SYLLABICS|IDEOGRAPH)\b")
_EVERYDAY = frozenset((
    "LATIN", "ARABIC", "BENGALI", "BOPOMOFO", "DEVANAGARI", "ETHIOPIC", "GEORGIAN", "GUJARATI", "GURMUKHI", "HANGUL", "CJK", "HEBREW",
    "HIRAGANA", "KANNADA", "KATAKANA", "KHMER", "LAO", "MALAYALAM", "MYANMAR", "ORIYA", "SINHALA", "TAMIL", "TELUGU", "THAANA", "THAI",
    "TIBETAN", "MODIFIER", "FULLWIDTH", "HALFWIDTH", "SUPERSCRIPT", "SUBSCRIPT",
))  # fmt: skip
"""Scripts that may stand beside Latin letters: those in everyday use (Unicode Standard Annex 31, table 5), but for the alphabets whose
letters look like Latin ones, as the level "moderately restrictive" of the standard above has it."""
_ALPHABETS = ("CYRILLIC", "GREEK", "ARMENIAN")
"""The others in everyday use."""


def odd_word(text: str, *, science: bool = False) -> str:
    """The first word whose letters are of two alphabets that look alike, or are Latin ones in another dress, "" for none. With `science`
    a Greek letter may stand in a word, as in a unit or the name of a method."""
    for word in _WORD.findall(text):
        scripts = {_script(letter) for letter in word}
        others = scripts - _EVERYDAY - ({"GREEK", ""} if science else {""})
        if (others and "LATIN" in scripts) or any(map(_dressed, word)):
            return str(word)
    return ""


def rare_word(text: str) -> str:
    """The first word in a script of which hardly anybody knows whether its letters look like those of another one, "" for none."""
    words = (str(word) for word in _WORD.findall(text))
    return next((word for word in words if set(map(_script, word)) - _EVERYDAY - {*_ALPHABETS, ""}), "")


def _script(letter: str) -> str:
    """As the names of characters begin; "" for what is no letter of a script, as a unit is."""
    name = unicodedata.name(letter, "")
    match = _LETTER.match(name)
    first = name.partition(" ")[0]
    return match[1] if match else first if first in _ALPHABETS else ""


def _dressed(letter: str) -> bool:
    """A Latin letter among the signs of mathematics, or of full width."""
    plain = unicodedata.normalize("NFKC", letter)
    cased = unicodedata.category(letter) in ("Lu", "Ll")
    return cased and not letter.isascii() and plain.isascii() and len(plain) == 1
